// once: a model finds better*
// once: a run starts from*
// The model of the operator `tune`, and the sampler of its settings.
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/archive/top_k.hpp>
#include <kevo/run_to_end.hpp>
#include <kevo/select/power_law.hpp>
#include <kevo/stop/evaluations.hpp>
#include <kevo/vary/uniform.hpp>

#include "operators/tune/setting_model.hpp"
#include "operators/tune/setting_space.hpp"
#include "operators/tune/tune.hpp"

namespace {

using kevo::program;
using kevo::setting_sampler;
using kevo::setting_space;
using kevo::tunable_setting;
using kevo::tune;

const std::string tiled_hill =
    "#define BM 8  // kevo: {8, 16, 32, 64, 128, 256}\n"
    "#define BN 8  // kevo: {8, 16, 32, 64, 128, 256}\n"
    "#define BK 8  // kevo: {4, 8, 16, 32, 64}\n"
    "#define UNROLL 1  // kevo: {1..8}\n"
    "#define PAD 0  // kevo: {0..4}\n"
    "#define ORDER row  // kevo: {row, column, tiled}\n"
    "// kevo: require BM * BN <= 8192\n"
    "// kevo: require BM % UNROLL == 0\n";

program hill_source(const std::string& text) {
  return kevo::single_file_program("cpp", "kernel.cpp", text);
}

// A smooth hill with a coupled pair, a category that matters, and a corner that fails.
struct hill {
  double noise = 0;
  kevo::evaluation evaluate(const kevo::evaluation_request& request) const {
    const auto all = kevo::parse_annotations(*request.program);
    const auto number = [&](const char* name) { return std::stod(all.find_tunable(name)->value); };
    kevo::evaluation e;
    e.stage = request.wanted;
    if (number("BM") * number("BK") > 4096) {
      e.outcome = kevo::outcome::launch_failed;
      return e;
    }
    e.outcome = kevo::outcome::valid;
    const auto away = [&](const char* name, double best) { return std::log2(number(name)) - best; };
    double log_speed = -0.12 * std::pow(away("BM", 6) + away("BN", 5), 2) - 0.06 * std::pow(away("BM", 6), 2);
    log_speed -= 0.08 * std::pow(away("BK", 5), 2) + 0.02 * std::pow(number("UNROLL") - 4, 2);
    log_speed -= number("PAD") == 1 ? 0 : 0.15;
    log_speed -= all.find_tunable("ORDER")->value == "tiled" ? 0 : 0.3;
    e.speedup = e.score = std::exp(log_speed);
    e.speedup_interval = {e.speedup, e.speedup};
    e.cost.wall_s = 1;
    return e;
  }
  std::string describe() const { return "hill"; }
};

struct listener {
  std::vector<std::string>* summaries;
  void consume(const kevo::event& e) {
    if (const auto* told = std::get_if<kevo::variation_told>(&e.payload)) summaries->push_back(told->summary);
  }
};

// The score of the best program after `evaluations`, and what was proposed.
double search_with(const tune& op, std::uint64_t seed, std::uint64_t evaluations,
                   std::vector<std::string>* summaries = nullptr, std::size_t ahead = 1) {
  kevo::search_parts parts;
  parts.task = std::make_shared<const kevo::task>();
  parts.select = kevo::power_law{.alpha = 2};
  parts.operators = {op};
  parts.portfolio = kevo::uniform_portfolio{};
  parts.archive = kevo::top_k(50);
  parts.stop = kevo::stop::evaluations{evaluations};
  kevo::search engine(std::move(parts), {.seed = seed, .proposals_ahead = ahead});
  if (summaries != nullptr) engine.attach(kevo::any_sink(listener{summaries}));
  engine.add_seed(hill_source(tiled_hill), 0);
  kevo::run_to_end(engine, kevo::any_fitness(hill()), [] { return 0.0; });
  return engine.population().row(engine.population().nth_best(0)).score;
}

tune with(kevo::tune_model model) {
  tune op;
  op.model = model;
  op.pool = 150;
  return op;
}

}  // namespace

TEST_CASE("a model finds better settings in as many evaluations") {
  double none = 0, process = 0, forest = 0;
  constexpr int seeds = 6;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    none += std::log(search_with(with(kevo::tune_model::none), seed, 40));
    process += std::log(search_with(with(kevo::tune_model::gaussian_process), seed, 40));
    forest += std::log(search_with(with(kevo::tune_model::forest), seed, 40));
  }
  CAPTURE(none / seeds);
  CAPTURE(process / seeds);
  CAPTURE(forest / seeds);
  CHECK(process > 0.5 * none);  // these are losses: half of what is missing without a model
  CHECK(forest > none);
}

TEST_CASE("a model's proposals depend on seed and results alone") {
  std::vector<std::string> first, second, other;
  search_with(with(kevo::tune_model::gaussian_process), 5, 30, &first);
  search_with(with(kevo::tune_model::gaussian_process), 5, 30, &second);
  search_with(with(kevo::tune_model::gaussian_process), 6, 30, &other);
  CHECK(first == second);
  CHECK(first != other);
}

TEST_CASE("several proposals may wait for their evaluations") {
  for (const auto model : {kevo::tune_model::gaussian_process, kevo::tune_model::forest}) {
    std::vector<std::string> summaries;
    CHECK(search_with(with(model), 3, 60, &summaries, 8) > 0.5);
  }
}

namespace {

// A run of one proposal after the other, each of them evaluated before the next one is asked for.
struct run_by_hand {
  std::vector<program> programs = {hill_source(tiled_hill)};
  std::shared_ptr<const kevo::told_result> results;
  std::size_t best = 0;
  double best_score = 0;

  // Evaluates the latest program, and says what the next request is.
  kevo::variation_request next() {
    const auto evaluated = hill().evaluate({.program = std::make_shared<const program>(programs.back())});
    const auto told = std::make_shared<kevo::told_result>();
    told->candidate = static_cast<kevo::candidate_id>(programs.size() - 1);
    told->outcome = evaluated.outcome;
    told->score = evaluated.score;
    told->count = programs.size();
    told->before = results;
    results = told;
    if (evaluated.score > best_score) {
      best_score = evaluated.score;
      best = programs.size() - 1;
    }
    kevo::variation_request request;
    kevo::candidate_snapshot parent;
    parent.program = std::make_shared<const program>(programs.front());
    request.parents = {std::make_shared<const kevo::candidate_snapshot>(parent)};
    request.known = programs.size();
    request.results = results;
    kevo::variation_services services;
    services.seen = [this](const kevo::content_id& id) {
      return std::any_of(programs.begin(), programs.end(), [&](const program& p) { return id_of(p) == id; });
    };
    services.program_of = [this](kevo::candidate_id id) {
      return std::make_shared<const program>(programs[id]);
    };
    request.services = std::make_shared<const kevo::variation_services>(services);
    return request;
  }
};

}  // namespace

TEST_CASE("an operator that is told everything at once proposes what one proposes that saw it grow") {
  run_by_hand run;
  tune grown = with(kevo::tune_model::gaussian_process);
  grown.moves = 0;
  for (int i = 0; i < 25; ++i) {
    const auto request = run.next();
    tune fresh = with(kevo::tune_model::gaussian_process);
    fresh.moves = 0;
    kevo::rng random(static_cast<std::uint64_t>(i));
    kevo::rng same = random;
    const auto a = grown.vary(request, random);
    const auto b = fresh.vary(request, same);
    REQUIRE(std::holds_alternative<kevo::proposal>(a));
    REQUIRE(std::get<kevo::proposal>(a).program == std::get<kevo::proposal>(b).program);
    run.programs.push_back(std::get<kevo::proposal>(a).program);
  }
}

TEST_CASE("a model that climbs changes one tunable of the best, until all such settings are known") {
  run_by_hand run;
  tune op = with(kevo::tune_model::gaussian_process);
  op.moves = 0;
  op.climb = 1;
  int near = 0;
  kevo::rng random(8);
  for (int i = 0; i < 40; ++i) {
    const auto request = run.next();
    auto made = op.vary(request, random);
    REQUIRE(std::holds_alternative<kevo::proposal>(made));
    const auto setting = [](const program& p) { return setting_space(kevo::parse_annotations(p)).current(); };
    const tunable_setting proposed = setting(std::get<kevo::proposal>(made).program);
    const tunable_setting best = setting(run.programs[run.best]);
    int changed = 0;
    for (std::size_t k = 0; k < best.size(); ++k) changed += proposed[k] != best[k] ? 1 : 0;
    if (run.programs.size() >= op.draws) near += changed == 1 ? 1 : 0;
    run.programs.push_back(std::get<kevo::proposal>(made).program);
  }
  CHECK(near >= 25);  // of 31; at an optimum whose neighbours are known it looks elsewhere
}

TEST_CASE("settings become numbers by their values") {
  const setting_space space(kevo::parse_annotations(
      "#define A 8 // kevo: {8, 16, 64}\n#define B 1 // kevo: {1..3}\n#define C x // kevo: {x, y}\n"
      "#define D 3 // kevo: {3}\nconst float E = 0.5f; // kevo: {0.5f, 1.0f}\n"));
  const kevo::setting_features features(space);
  CHECK(features.columns() == 5);
  CHECK(features.row({1, 1, 0, 0, 1})[0] == doctest::Approx(1.0 / 3));  // log2: 3, 4, 6
  CHECK(features.row({1, 1, 0, 0, 1})[1] == doctest::Approx(0.5));
  CHECK(features.row({0, 0, 0, 0, 1})[4] == 1);
  double apart = 0;
  for (std::size_t i = 0; i < 5; ++i)
    apart += std::pow(features.row({0, 0, 0, 0, 0})[i] - features.row({0, 0, 1, 0, 0})[i], 2);
  CHECK(apart == doctest::Approx(1));
}

TEST_CASE("a model may see how often 2 divides a value") {
  const setting_space space(kevo::parse_annotations(
      "#define A 16 // kevo: {16, 48, 64, 128, 256}\n#define B 1 // kevo: {1, 2, 4, 8}\n"
      "#define C 0 // kevo: {0..4}\n#define D 1 // kevo: {1, 3}\n#define E 6 // kevo: {6, 10, 14}\n"
      "const float F = 0.5f; // kevo: {0.5f, 1.0f, 3.0f}\n"));
  CHECK(kevo::setting_features(space).columns() == 6);
  const kevo::setting_features features(space, true);
  CHECK(features.columns() == 7);  // A alone: powers of two, 0, few values and halves say nothing more
  const auto twos = [&](std::uint32_t value) { return features.row({value, 0, 0, 0, 0, 0})[1]; };
  CHECK(twos(0) == 0);
  CHECK(twos(1) == 0);
  CHECK(twos(2) == 1);
  CHECK(twos(3) == 1);  // 64 and more are equal
}

TEST_CASE("what 2 divides often is expected to be good where such values were") {
  // 32, 64, 96, ... are good, and what lies between them is bad.
  const setting_space space(kevo::parse_annotations("#define A 8 // kevo: {8..192 step 8}\n"));
  std::vector<kevo::tried_setting> results;
  std::vector<tunable_setting> pool;
  std::vector<bool> good;
  for (std::uint32_t a = 0; a < space.tunables()[0].domain.size(); ++a) {
    const bool fits = std::stoi(space.tunables()[0].domain[a]) % 32 == 0;
    if (a < 12) {
      results.push_back({{a}, fits ? 1.0 : 0.0, false, 0, 1.0});
    } else {
      pool.push_back({a});
      good.push_back(fits);
    }
  }
  const auto first_three = [&](bool divisibility) {
    kevo::setting_model_settings how;
    how.divisibility = divisibility;
    kevo::fitted_lengths lengths;
    int found = 0;
    for (const std::size_t at : kevo::best_expected(space, results, {}, pool, 3, how, lengths))
      found += good[at] ? 1 : 0;
    return found;
  };
  CHECK(first_three(true) == 3);
  CHECK(first_three(false) < 3);
}

TEST_CASE("what failed and what costs much is proposed later") {
  const setting_space space(kevo::parse_annotations("#define A 0 // kevo: {0..40}\n"));
  kevo::fitted_lengths lengths;
  std::vector<kevo::tried_setting> results;
  for (std::uint32_t a = 0; a <= 10; a += 2) results.push_back({{a}, 0.01 * a, false, 0, 1.0});
  for (std::uint32_t a = 30; a <= 40; a += 2) results.push_back({{a}, 0.01 * a, false, 0, 1.0});
  const std::vector<tunable_setting> pool = {{12}, {28}};
  kevo::setting_model_settings how;
  CHECK(kevo::best_expected(space, results, {}, pool, 1, how, lengths).front() == 1);
  std::vector<kevo::tried_setting> failing = results;
  for (std::size_t i = 6; i < failing.size(); ++i) failing[i].failed = true;
  lengths = {};
  CHECK(kevo::best_expected(space, failing, {}, pool, 1, how, lengths).front() == 0);
  how.cost_exponent = 1;
  for (const bool upper : {false, true}) {  // two halves of equal values, one of which costs much
    std::vector<kevo::tried_setting> expensive = results;
    for (auto& one : expensive) {
      const bool high = one.setting[0] >= 30;
      one.value = 0.01 * static_cast<double>(7 * one.setting[0] % 5);
      one.cost_s = high == upper ? 1e6 : 1;
    }
    lengths = {};
    CHECK(kevo::best_expected(space, expensive, {}, pool, 1, how, lengths).front() == (upper ? 0 : 1));
  }
  how.cost_exponent = 0;
  // Beside a setting that is being evaluated there is less to learn.
  std::vector<tunable_setting> unseen;
  for (std::uint32_t a = 11; a < 30; ++a) unseen.push_back({a});
  lengths = {};
  const tunable_setting first =
      unseen[kevo::best_expected(space, results, {}, unseen, 1, how, lengths).front()];
  std::erase(unseen, first);
  const auto distance_of_next = [&](const std::vector<tunable_setting>& pending) {
    const auto next = kevo::best_expected(space, results, pending, unseen, 1, how, lengths).front();
    return std::abs(static_cast<int>(unseen[next][0]) - static_cast<int>(first[0]));
  };
  CHECK(distance_of_next({}) == 1);
  CHECK(distance_of_next({first}) > 1);
}

TEST_CASE("a run starts from what other runs found, and forgets what does not hold here") {
  // The hill as another device would show it: other numbers, and some noise; and a device where the worst is
  // best.
  const setting_space space(kevo::parse_annotations(hill_source(tiled_hill)));
  const auto experience = [&](double factor) {
    auto made = std::make_shared<std::vector<kevo::tune_experience>>();
    kevo::rng random(12);
    const setting_sampler sampler(space);
    for (int i = 0; i < 80; ++i) {
      const auto setting = *sampler.draw(random);
      const program source = space.apply(hill_source(tiled_hill), setting);
      const auto e = hill().evaluate({.program = std::make_shared<const program>(source)});
      kevo::tune_experience one{space.values(setting), 0, !e.valid()};
      if (e.valid()) one.value = factor * std::log(e.score) + 0.05 * random.normal() - 3;
      made->push_back(one);
    }
    return made;
  };
  double without = 0, with_it = 0, misled = 0, misled_later = 0, later = 0;
  constexpr int seeds = 4;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    tune op = with(kevo::tune_model::gaussian_process);
    without += std::log(search_with(op, seed, 12));
    later += std::log(search_with(op, seed, 50));
    op.experience = experience(0.7);
    with_it += std::log(search_with(op, seed, 12));
    op.experience = experience(-0.7);
    misled += std::log(search_with(op, seed, 12));
    misled_later += std::log(search_with(op, seed, 50));
  }
  CAPTURE(without / seeds);
  CAPTURE(with_it / seeds);
  CAPTURE(misled / seeds);
  CAPTURE(misled_later / seeds);
  CAPTURE(later / seeds);
  CHECK(with_it > 0.4 * without);
  CHECK(misled_later > later - 0.1 * seeds);
}

TEST_CASE("the sampler draws every valid setting equally often, however large the space is") {
  const std::string text =
      "#define A 1 // kevo: {1..6}\n#define B 1 // kevo: {1..6}\n#define C 1 // kevo: {1..4}\n"
      "#define D 1 // kevo: {1..4}\n#define E 1 // kevo: {1, 2}\n"
      "// kevo: require A * B <= 6\n// kevo: require C != D\n";
  const setting_space space(kevo::parse_annotations(text));
  const auto all = *space.enumerate(100000);
  CHECK(setting_sampler(space).count() == all.size());
  // Groups enumerated, and drawn by value because they are too large for a limit of 1.
  for (const std::size_t limit : {std::size_t{50000}, std::size_t{1}}) {
    const setting_sampler sampler(space, limit);
    CHECK(sampler.count().has_value() == (limit > 1));
    std::map<tunable_setting, int> seen;
    kevo::rng random(4);
    const int draws = 40 * static_cast<int>(all.size());
    for (int i = 0; i < draws; ++i) {
      const auto one = sampler.draw(random);
      REQUIRE(one.has_value());
      REQUIRE(space.valid(*one));
      ++seen[*one];
    }
    CHECK(seen.size() == all.size());
    double chi_square = 0;
    for (const auto& [setting, count] : seen) chi_square += (count - 40.0) * (count - 40.0) / 40.0;
    const auto freedom = static_cast<double>(all.size() - 1);
    CHECK(chi_square < freedom + 4 * std::sqrt(2 * freedom));
  }
  std::string large;
  for (char c = 'A'; c <= 'P'; ++c) large += std::string("#define ") + c + " 1 // kevo: {1..16}\n";
  for (char c = 'A'; c < 'P'; c = static_cast<char>(c + 2))
    large += std::string("// kevo: require ") + c + " == " + static_cast<char>(c + 1) + "\n";
  const setting_space wide(kevo::parse_annotations(large));
  const setting_sampler sampler(wide);
  CHECK(sampler.count() == std::uint64_t{1}
                               << 32U);  // 2^64 settings, one of 2^32 valid: rejection would fail
  kevo::rng random(9);
  for (int i = 0; i < 20; ++i) CHECK(wide.valid(*sampler.draw(random)));
  const setting_space none(kevo::parse_annotations("#define A 1 // kevo: {1, 2}\n// kevo: require A > 2\n"));
  CHECK_FALSE(setting_sampler(none).draw(random).has_value());
  CHECK(setting_sampler(none).count() == 0);
}

TEST_CASE("an operator may be restricted to listed settings") {
  tune op;
  const auto listed = std::make_shared<std::vector<std::vector<std::uint32_t>>>();
  listed->push_back({0, 0, 1, 0, 1, 2});
  listed->push_back({5, 5, 0, 0, 0, 0});  // breaks a condition of the source, but it is listed
  op.only = listed;
  std::set<std::string> made;
  kevo::rng random(2);
  kevo::variation_request request;
  kevo::candidate_snapshot parent;
  parent.program = std::make_shared<const program>(hill_source(tiled_hill));
  request.parents = {std::make_shared<const kevo::candidate_snapshot>(parent)};
  for (int i = 0; i < 20; ++i)
    made.insert(std::string(std::get<kevo::proposal>(op.vary(request, random)).program.text()));
  CHECK(made.size() == 2);
}

TEST_CASE("a long list of results is freed without recursion") {
  std::shared_ptr<const kevo::told_result> last;
  for (int i = 0; i < 300000; ++i) {
    const auto one = std::make_shared<kevo::told_result>();
    one->before = last;
    last = one;
  }
  const auto held = last->before->before;
  last.reset();
  CHECK(held->before != nullptr);
}
