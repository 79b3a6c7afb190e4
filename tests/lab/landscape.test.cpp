// links: core
// Simulated landscapes: the planted optimum against every program there is, determinism, strict steps, noise,
// moves.

#include <cmath>
#include <set>

#include <doctest/doctest.h>

#include <kevo/lab/landscape_fitness.hpp>
#include <kevo/lab/landscape_moves.hpp>

namespace {

using kevo::landscape;
using kevo::landscape_program;

kevo::landscape_settings small() {
  return {.steps = 4, .tunables = 2, .levels = 4, .resources = 1};
}

/// Every program of a small landscape: all orders of all subsets of steps with all levels.
template <class Visit>
void for_each_program(const landscape& world, landscape_program p, Visit visit) {
  const std::size_t levels = p.levels;
  for (std::uint32_t a = 0; a < levels; ++a) {
    for (std::uint32_t b = 0; b < levels; ++b) {
      p.tuning = {a, b};
      visit(p);
    }
  }
  for (std::uint32_t step = 0; step < p.steps; ++step) {
    if (std::find(p.order.begin(), p.order.end(), step) != p.order.end()) continue;
    landscape_program longer = p;
    longer.order.push_back(step);
    for_each_program(world, std::move(longer), visit);
  }
}

kevo::variation_request from(const landscape_program& parent, const landscape_program& other) {
  kevo::variation_request request;
  for (const auto& p : {parent, other}) {
    kevo::candidate_snapshot snapshot;
    snapshot.program = std::make_shared<const kevo::program>(to_source(p));
    (request.parents.empty() ? request.parents : request.inspirations)
        .push_back(std::make_shared<const kevo::candidate_snapshot>(std::move(snapshot)));
  }
  return request;
}

}  // namespace

TEST_CASE("no program is better than the planted one, and strict steps and resources stop some") {
  std::set<kevo::outcome> met;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    kevo::landscape_settings shape = small();
    shape.valleys = seed % 2 == 0 ? 0.9 : shape.valleys;  // chains of losing enablers
    const landscape world(shape, seed);
    double best = 0;
    for_each_program(world, {.steps = 4, .levels = 4}, [&](const landscape_program& p) {
      const auto verdict = world.judge(p);
      met.insert(verdict.outcome);
      CHECK((verdict.outcome == kevo::outcome::valid) == (verdict.value > 0));
      best = std::max(best, verdict.value);
    });
    CHECK(world.judge(world.best()).outcome == kevo::outcome::valid);
    CHECK(world.optimum() == doctest::Approx(best).epsilon(1e-12));
    CHECK(world.judge(world.seed()).value == doctest::Approx(1));
    CHECK(world.seed().order.empty());
  }
  CHECK(met.count(kevo::outcome::valid) + met.count(kevo::outcome::incorrect) +
            met.count(kevo::outcome::build_failed) ==
        3);
}

TEST_CASE("order matters, some steps lose by themselves, and equal seeds are equal landscapes") {
  bool order_matters = false, valley = false, differ = false;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const landscape world({}, seed);
    CHECK(to_source(landscape({}, seed).best()) == to_source(world.best()));
    CHECK(landscape({}, seed).optimum() == world.optimum());
    differ = differ || landscape({}, seed + 1).optimum() != world.optimum();
    landscape_program backwards = world.best();
    std::reverse(backwards.order.begin(), backwards.order.end());
    order_matters = order_matters || world.judge(backwards).value < world.optimum() * 0.9;
    landscape_program way = world.best();
    for (double before = world.optimum(); !way.order.empty();) {
      way.order.pop_back();
      const double now = world.judge(way).value;
      valley = valley || now > before;
      before = now;
    }
  }
  CHECK(order_matters);
  CHECK(valley);
  CHECK(differ);
}

TEST_CASE("programs read back as they were written, and nothing else is one") {
  const landscape_program p{.steps = 5, .levels = 8, .order = {3, 0}, .tuning = {7, 0, 2}, .name = 12};
  CHECK(kevo::landscape_program_in(to_source(p).text()) == p);
  const landscape_program bare{.steps = 5, .levels = 8};
  CHECK(kevo::landscape_program_in(to_source(bare).text()) == bare);
  for (const char* text :
       {"", "landscape 5 8\nsteps 5\ntuning\nname 0\n", "landscape 5 8\nsteps 1 1\ntuning\nname 0\n",
        "landscape 5 8\nsteps\ntuning 8\nname 0\n", "landscape 5 8\nsteps\ntuning\nname 0\nmore\n",
        "landscape 5 8\nsteps x\ntuning\nname 0\n", "landscape 99999999 8\nsteps\ntuning\nname 0\n"}) {
    CHECK_FALSE(kevo::landscape_program_in(text));
  }
}

TEST_CASE("noise is fair, differs each time and does not depend on what else was measured") {
  const auto world = std::make_shared<const landscape>(kevo::landscape_settings{}, 3);
  const kevo::simulated_measurement how{.noise = 0.1};
  kevo::landscape_fitness alone(world, how, 3), busy(world, how, 3);
  kevo::evaluation_request request;
  request.program = std::make_shared<const kevo::program>(to_source(world->best()));
  kevo::evaluation_request other;
  other.program = std::make_shared<const kevo::program>(to_source(world->seed()));
  double sum = 0, squares = 0;
  constexpr int n = 2000;
  for (int i = 0; i < n; ++i) {
    busy.evaluate(other);
    const double measured = alone.evaluate(request).speedup;
    CHECK(busy.evaluate(request).speedup == measured);
    const double error = std::log(measured / world->optimum());
    sum += error;
    squares += error * error;
  }
  CHECK(std::abs(sum / n) < 4 * 0.1 / std::sqrt(n));
  CHECK(std::sqrt(squares / n) == doctest::Approx(0.1).epsilon(0.1));
  request.wanted = kevo::evaluation_stage::confirmed;
  CHECK(alone.evaluate(request).speedup == doctest::Approx(world->optimum()));
  CHECK(alone.evaluate(request).cost.wall_s > 0);
}

TEST_CASE(
    "measured on several small tasks, a program has one value for each, and hard tasks are hard for all") {
  const kevo::simulated_measurement how{.noise = 0.1, .tasks = 3};
  double squares = 0, products = 0;
  constexpr int seeds = 400;
  for (int seed = 0; seed < seeds; ++seed) {
    const auto world = std::make_shared<const landscape>(kevo::landscape_settings{}, 3);
    kevo::landscape_fitness fitness(world, how, static_cast<std::uint64_t>(seed));
    const auto errors_of = [&](const landscape_program& p) {
      std::vector<double> all;
      kevo::evaluation_request request;
      request.program = std::make_shared<const kevo::program>(to_source(p));
      for (int i = 0; i < 30; ++i)
        all.push_back(std::log(fitness.evaluate(request).speedup / world->judge(p).value));
      std::sort(all.begin(), all.end());
      all.erase(std::unique(all.begin(), all.end(), [](double a, double b) { return b - a < 1e-12; }),
                all.end());
      return all;
    };
    const auto best = errors_of(world->best());
    const auto first = errors_of(world->seed());
    CHECK(best.size() == 3);
    CHECK(first.size() == 3);
    // The sum over all tasks, so that their order does not matter.
    double a = 0, b = 0;
    for (const double e : best) squares += e * e / 3, a += e;
    for (const double e : first) b += e;
    products += a * b / 3;
  }
  CHECK(std::sqrt(squares / seeds) == doctest::Approx(0.1).epsilon(0.1));
  CHECK(products / seeds == doctest::Approx(0.5 * 0.01).epsilon(0.3));  // half of the variance is common
}

TEST_CASE("moves make programs, and each does its own thing") {
  const landscape world({}, 5);
  landscape_program parent = world.seed();
  parent.order = {2, 4, 1};
  const auto request = from(parent, world.best());
  kevo::rng random(1);
  const auto child = [&](kevo::any_variation move) {
    const auto result = move.vary(request, random);
    REQUIRE(std::holds_alternative<kevo::proposal>(result));
    const auto made = kevo::landscape_program_in(std::get<kevo::proposal>(result).program.text());
    REQUIRE(made);
    CHECK(made->tuning.size() == parent.tuning.size());
    return *made;
  };
  std::set<std::size_t> lengths;
  for (int i = 0; i < 300; ++i) {
    CHECK(child(kevo::landscape_tune{}).order == parent.order);
    const auto macro = child(kevo::landscape_macro{});
    CHECK(macro.tuning == parent.tuning);
    lengths.insert(macro.order.size());
    const auto crossed = child(kevo::landscape_cross{}).order;
    CHECK((crossed == parent.order || crossed == world.best().order));
    landscape_program renamed = child(kevo::landscape_rename{});
    CHECK(renamed.name != parent.name);
    CHECK(world.judge(renamed).value == world.judge(parent).value);
    renamed.name = parent.name;
    CHECK(renamed == parent);
    child(kevo::landscape_draw{});
  }
  CHECK(lengths == std::set<std::size_t>{2, 3, 4});
}
