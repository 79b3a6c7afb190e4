// links: core
// Rankers against what defines them, and the screening of proposals in a search.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/archive/top_k.hpp>
#include <kevo/learn/gaussian_process.hpp>
#include <kevo/learn/ridge.hpp>
#include <kevo/run_to_end.hpp>
#include <kevo/select/uniform.hpp>
#include <kevo/tunable_features.hpp>

#include "tests/support/chi_square.hpp"
#include "tests/support/toy_search.hpp"

namespace {

using kevo::candidate_id;
using kevo::detail::evaluation_queue;

static_assert(kevo::ranker<kevo::ridge> && kevo::ranker<kevo::gaussian_process>);

struct sample {
  std::vector<double> x;
  double y = 0;
};

/// Predicts the first feature; remembers what it was told.
struct oracle_ranker {
  double factor = 1;
  void learn(std::span<const double>, double) {}
  double predict(std::span<const double> x) const { return factor * x[0]; }
};

kevo::gaussian_process process(std::size_t memory, double optimism) {
  kevo::gaussian_process made;
  made.memory = memory;
  made.noise = 1e-6;
  made.optimism = optimism;
  made.refit = 1;
  return made;
}

kevo::screening screen_with(kevo::any_ranker ranker) {
  kevo::screening s;
  s.ranker = std::move(ranker);
  return s;
}

// A program of five parameters with additive effects, and operators that change one of them at random.

constexpr int parameters = 5, values = 8;

kevo::program configuration(const std::vector<int>& chosen) {
  std::string text;
  for (int i = 0; i < parameters; ++i) {
    text +=
        "#define P" + std::to_string(i) + " V" + std::to_string(chosen[static_cast<std::size_t>(i)]) + "\n";
  }
  return kevo::single_file_program("toy", "k.txt", text);
}
std::vector<int> chosen_in(const kevo::program& p) {
  std::vector<int> chosen;
  const std::string text(p.text());
  for (std::size_t at = 0; (at = text.find('V', at)) != std::string::npos; ++at)
    chosen.push_back(text[at + 1] - '0');
  return chosen;
}
double worth(const std::vector<int>& chosen) {
  double log_score = 0;
  for (int i = 0; i < parameters; ++i) {
    log_score += 0.5 * std::sin(1.7 * i + 2.3 * chosen[static_cast<std::size_t>(i)]);
  }
  return std::exp(log_score);
}
struct random_change {
  std::string name() const { return "random_change"; }
  kevo::variation_result vary(const kevo::variation_request& request, kevo::rng& random) {
    auto chosen = chosen_in(*request.parents.front()->program);
    for (int k = 0; k < 2; ++k) chosen[random.below(parameters)] = static_cast<int>(random.below(values));
    return kevo::proposal{configuration(chosen), "change"};
  }
};
struct additive {
  kevo::evaluation evaluate(const kevo::evaluation_request& request) {
    return toy::valued(worth(chosen_in(*request.program)), request.wanted);
  }
};

struct result {
  kevo::ledger spent;
  double mean_score = 0;
  std::optional<kevo::screening_report> screened;
  std::vector<kevo::event> events;
};

result run(std::optional<kevo::screening> screen, std::uint64_t seed) {
  result r;
  kevo::search_parts p = toy::parts({.evaluations = 300}, {&r.events});
  p.select = kevo::uniform{.from = kevo::parent_source::population};
  p.archive = kevo::top_k(20);
  p.operators = {random_change{}};
  p.screen = std::move(screen);
  kevo::search engine(std::move(p), {.seed = seed});
  engine.add_seed(configuration(std::vector<int>(parameters, 0)), 0);
  kevo::run_to_end(engine, kevo::any_fitness(additive{}), [] { return 0.0; });
  r.spent = engine.spent();
  r.screened = engine.screened();
  double sum = 0, count = 0;
  for (candidate_id id = 0; id < engine.population().size(); ++id) {
    if (engine.population().row(id).evaluated) sum += std::log2(engine.population().row(id).score), ++count;
  }
  r.mean_score = sum / count;
  return r;
}

}  // namespace

TEST_CASE("ridge regression stands where the gradient of its loss is zero") {
  kevo::rng random(81);
  std::vector<sample> data;
  kevo::ridge model;
  model.penalty = 7;
  model.refit = 1;
  for (int i = 0; i < 60; ++i) {
    sample s{{random.normal(), 5 + 100 * random.normal(), 3, random.uniform()}};  // the third never varies
    s.y = 2 * s.x[0] - 0.03 * s.x[1] + s.x[3] + 0.1 * random.normal();
    model.learn(s.x, s.y);
    data.push_back(s);
  }
  const std::size_t d = 4;
  std::vector<double> mean(d), variance(d), weight(d);
  for (std::size_t j = 0; j < d; ++j) {
    for (const auto& s : data) mean[j] += s.x[j] / 60;
    for (const auto& s : data) variance[j] += (s.x[j] - mean[j]) * (s.x[j] - mean[j]) / 60;
  }
  for (std::size_t j = 0; j < d; ++j) {
    auto moved = mean;
    moved[j] += 1;
    weight[j] = model.predict(moved) - model.predict(mean);
  }
  for (std::size_t j = 0; j < d; ++j) {
    double gradient = 7 * weight[j] * variance[j];
    for (const auto& s : data) gradient -= (s.y - model.predict(s.x)) * (s.x[j] - mean[j]);
    CHECK(std::abs(gradient) < 1e-6);
  }
  CHECK(weight[0] == doctest::Approx(2).epsilon(0.2));
  CHECK(std::abs(weight[2]) < 1e-9);
  CHECK(kevo::ridge{}.predict(std::vector<double>{1, 2}) == 0);
}

TEST_CASE(
    "a Gaussian process passes through its points, forgets old ones, and is optimistic where it knows "
    "nothing") {
  const auto truth = [](double x, double z) { return std::sin(3 * x) + z * z; };
  kevo::rng random(82);
  kevo::gaussian_process sharp = process(200, 0), hopeful = process(200, 2);
  std::vector<sample> data;
  for (int i = 0; i < 80; ++i) {
    sample s{{random.uniform(-1, 1), random.uniform(-1, 1)}};
    s.y = truth(s.x[0], s.x[1]);
    sharp.learn(s.x, s.y);
    hopeful.learn(s.x, s.y);
    data.push_back(s);
  }
  for (const auto& s : data) CHECK(sharp.predict(s.x) == doctest::Approx(s.y).epsilon(0.02));
  double error = 0, spread = 0;
  for (int i = 0; i < 200; ++i) {
    const std::vector<double> x = {random.uniform(-0.9, 0.9), random.uniform(-0.9, 0.9)};
    error += std::pow(sharp.predict(x) - truth(x[0], x[1]), 2) / 200;
    spread += std::pow(truth(x[0], x[1]) - 0.33, 2) / 200;
    CHECK(hopeful.predict(x) >= sharp.predict(x) - 1e-9);
  }
  CHECK(error < 0.01 * spread);
  const std::vector<double> far = {30, 30};
  CHECK(hopeful.predict(far) > sharp.predict(far) + 1);
  kevo::gaussian_process recent = process(10, 0);
  for (int i = 0; i < 10; ++i) recent.learn(std::vector<double>{0.1 * i}, 5);
  for (int i = 0; i < 10; ++i) recent.learn(std::vector<double>{0.1 * i}, i);
  CHECK(recent.predict(std::vector<double>{0.3}) == doctest::Approx(3).epsilon(0.01));
}

TEST_CASE("a ranker that knows the values of tunables predicts values that it has not seen") {
  const auto sized = [](int a, int b) {
    const std::string domain = "  // kevo: {1, 2, 4, 8, 16, 32, 64, 128}\n";
    return kevo::single_file_program(
        "toy", "k.txt",
        "#define A " + std::to_string(a) + domain + "#define B " + std::to_string(b) + domain);
  };
  // Learns from all programs with values up to 16; the share of pairs of the others that it orders rightly.
  const auto hit_rate = [&](const kevo::screening_features& features) {
    const auto worth_of = [](int a, int b) { return std::log2(static_cast<double>(a) * a * b); };
    kevo::ridge model;
    for (int a = 1; a <= 16; a *= 2)
      for (int b = 1; b <= 16; b *= 2) model.learn(features(sized(a, b), 1.0, {}), worth_of(a, b));
    std::vector<std::pair<double, double>> others;  // worth, prediction
    for (int a = 1; a <= 128; a *= 2) {
      for (int b = 1; b <= 128; b *= 2) {
        if (a > 16 || b > 16)
          others.emplace_back(worth_of(a, b), model.predict(features(sized(a, b), 1.0, {})));
      }
    }
    double pairs = 0, right = 0;
    for (const auto& one : others) {
      for (const auto& other : others) {
        if (!(one.first < other.first)) continue;
        ++pairs;
        if (one.second < other.second) ++right;
      }
    }
    return right / pairs;
  };
  kevo::screening_features text_alone;
  kevo::screening_features with_values;
  with_values.more = kevo::tunable_features{};
  const double by_text = hit_rate(text_alone), by_values = hit_rate(with_values);
  CAPTURE(by_text);
  CAPTURE(by_values);
  CHECK(by_values > 0.75);
  CHECK(by_values > by_text + 0.05);  // every number here is determined by the code

  const auto tunable_of = [](const std::string& line) {
    return kevo::tunable_features::value_of(kevo::parse_annotations(line).tunables.at(0));
  };
  CHECK(tunable_of("#define A 8  // kevo: {2, 4, 8}\n") == 3);
  CHECK(tunable_of("#define A 3  // kevo: {2, 3, 4}\n") == 3);   // not wide enough for a logarithm
  CHECK(tunable_of("#define A 0  // kevo: {0, 8, 64}\n") == 0);  // zero has none
  CHECK(tunable_of("#define A b  // kevo: {a, b, 64}\n") == 1);  // a position
  CHECK(kevo::tunable_features{}(kevo::single_file_program("toy", "k.txt", "#define A 1  // kevo: {\n")) ==
        std::vector<double>(32, 0.0));
  CHECK(kevo::tunable_features{.features = 0}(sized(4, 4)).empty());
}

TEST_CASE("a screened queue takes the first by rank, any by chance, and drops the last of a full pool") {
  kevo::screening how = screen_with(oracle_ranker{});
  how.pool = 5;
  how.drop = 2;
  how.epsilon = 0;
  how.warmup = 2;
  evaluation_queue queue(how);
  std::vector<candidate_id> dropped;
  const auto push = [&queue](candidate_id id, double worth) {
    queue.push_back({.candidate = id, .features = {worth}});
  };
  push(0, 1), push(1, 5);
  CHECK(queue.take(kevo::rng(1), dropped).candidate == 0);  // nothing learnt yet: by age
  queue.learn(0, 2, {});
  CHECK(queue.take(kevo::rng(1), dropped).candidate == 1);
  queue.learn(1, 2, {});
  for (candidate_id id = 2; id < 7; ++id) push(id, id % 5);  // 2 3 4 0 1
  CHECK_FALSE(queue.wants_more());
  queue.push_back({.candidate = 90});  // a seed: what was not proposed goes first
  CHECK(queue.take(kevo::rng(1), dropped).candidate == 90);
  CHECK(queue.take(kevo::rng(1), dropped).candidate == 4);
  CHECK(dropped == std::vector<candidate_id>{5, 6});
  CHECK(queue.size() == 2);
  CHECK(queue.wants_more());
  CHECK(queue.take(kevo::rng(1), dropped).candidate == 3);  // not full: nobody is dropped
  CHECK(dropped.size() == 2);
  queue.learn(4, 8, {kevo::archive_status::new_cell, 1});
  queue.learn(3, 4, {});
  CHECK(queue.report().ranked == 2);
  CHECK(queue.report().ranked_kept == 1);
  CHECK(queue.report().hit_rate() == 1);
  CHECK(queue.take(kevo::rng(1), dropped).candidate == 2);
  queue.learn(2, 16, {});  // worse than the one before, it was predicted
  CHECK(queue.report().hit_rate() == 0.5);

  how.epsilon = 1;
  how.drop = 0;
  how.warmup = 0;
  std::vector<int> counts(5);
  for (std::uint64_t trial = 0; trial < 5000; ++trial) {
    evaluation_queue any(how);
    for (candidate_id id = 0; id < 5; ++id) any.push_back({.candidate = id, .features = {1.0 * id}});
    ++counts[any.take(kevo::rng(trial), dropped).candidate];
  }
  CHECK(kevo::test::chi_square_excess(counts, std::vector<double>(5, 1.0)) < 1);
}

TEST_CASE(
    "a search that screens evaluates better proposals, says how often it was right, and can be repeated") {
  const auto model = [] {
    kevo::screening how = screen_with(kevo::ridge{});
    how.drop = 2;
    return how;
  };
  double plain = 0, screened = 0;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    plain += run(std::nullopt, seed).mean_score / 3;
    const result r = run(model(), seed);
    screened += r.mean_score / 3;
    REQUIRE(r.screened);
    CHECK(r.screened->hit_rate() > 0.75);
    CHECK(r.screened->explored > 10);
    CHECK(r.screened->ranked > 200);
    CHECK(r.screened->dropped > 400);
    CHECK(static_cast<double>(r.spent.proposals - r.spent.duplicates) /
              static_cast<double>(r.spent.evaluations) >
          2.5);
    CHECK(r.spent.evaluations == 300);
  }
  CHECK(screened > plain + 0.5);
  const result once = run(model(), 9), again = run(model(), 9);
  REQUIRE(once.events.size() == again.events.size());
  CHECK(once.spent.proposals == again.spent.proposals);
  CHECK(once.mean_score == again.mean_score);
  const result misled = run(screen_with(oracle_ranker{-1}), 9);  // a useless model ends the search no sooner
  CHECK(misled.spent.evaluations == 300);
}
