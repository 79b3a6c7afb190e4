// The figures of a suite, against counts by hand and by brute force.

#include "src/suite/scores.hpp"

#include <cmath>
#include <stdexcept>

#include <doctest/doctest.h>

#include <kevo/random.hpp>

using namespace kevo;

namespace {

solution_score fast(double speedup, double low, double high) {
  return {.called = true, .correct = true, .speedup = speedup, .range = {low, high}};
}

task_score task_of(const solution_score& s, std::string level = {}, std::string category = {}) {
  return {.level = std::move(level), .category = std::move(category), .best = s, .solutions = {s}};
}

const fast_share& at(const group_scores& group, double p) {
  for (const auto& f : group.fast) {
    if (f.p == p) return f;
  }
  throw std::logic_error("no such threshold");
}

double binomial(std::size_t n, std::size_t k, double p) {
  const double choose = std::lgamma(static_cast<double>(n) + 1) - std::lgamma(static_cast<double>(k) + 1) -
                        std::lgamma(static_cast<double>(n - k) + 1);
  return std::exp(choose + static_cast<double>(k) * std::log(p) +
                  static_cast<double>(n - k) * std::log1p(-p));
}

}  // namespace

TEST_CASE("fast_p equals a count by brute force on random suites") {
  rng random(7);
  for (int suite = 0; suite < 200; ++suite) {
    std::vector<task_score> tasks;
    const auto count = 1 + random.below(30);
    for (std::uint64_t i = 0; i < count; ++i) {
      solution_score s;
      s.called = random.below(10) > 0;
      s.correct = s.called && random.below(4) > 0;
      if (s.correct) {
        // On a grid, so that values and ends often equal a threshold.
        s.speedup = 0.25 * static_cast<double>(1 + random.below(24));
        if (random.below(3) > 0)
          s.range = {s.speedup - 0.25 * static_cast<double>(random.below(4)),
                     s.speedup + 0.25 * static_cast<double>(random.below(4))};
      }
      tasks.push_back(task_of(s, std::to_string(random.below(3)), random.below(2) == 0 ? "a" : "b"));
    }
    const auto groups = score_groups(tasks, {});
    for (const auto& group : groups) {
      std::size_t members = 0;
      for (const auto& t : tasks) {
        members += group.kind == "all" || (group.kind == "level" && t.level == group.name) ||
                           (group.kind == "category" && t.category == group.name)
                       ? 1
                       : 0;
      }
      REQUIRE(group.tasks == members);
      for (const auto& f : group.fast) {
        std::size_t counted = 0;
        std::size_t decided = 0;
        std::size_t possible = 0;
        for (const auto& t : tasks) {
          if (group.kind == "level" && t.level != group.name) continue;
          if (group.kind == "category" && t.category != group.name) continue;
          const auto& s = t.best;
          if (!s.correct) continue;
          const bool spread = s.range.high > 0;
          if (f.p == 0 || s.speedup > f.p) ++counted;
          if (f.p == 0 || (spread ? s.range.low : s.speedup) > f.p) ++decided;
          if (f.p == 0 || (spread ? s.range.high : s.speedup) > f.p) ++possible;
        }
        REQUIRE(f.share.counted == counted);
        REQUIRE(f.share.decided == decided);
        REQUIRE(f.share.decided + f.share.undecided == possible);
        REQUIRE(f.share.decided <= f.share.counted);
        REQUIRE(f.share.counted <= possible);
        REQUIRE(f.share.range.low <= f.share.low());
        REQUIRE(f.share.range.high >= f.share.high());
        REQUIRE(f.of_one == doctest::Approx(f.share.value()));
      }
    }
  }
}

TEST_CASE("a task that failed counts in every share, and in no mean of correct ones") {
  const solution_score wrong{.called = true};
  const auto groups = score_groups(
      {task_of(fast(4, 3.5, 4.5)), task_of(fast(0.5, 0.4, 0.6)), task_of(wrong), task_of(solution_score{})},
      {});
  REQUIRE(groups.size() == 1);  // without levels and categories there is one group
  const auto& all = groups.front();
  CHECK(all.tasks == 4);
  CHECK(all.call.value() == doctest::Approx(0.75));
  CHECK(all.exe.value() == doctest::Approx(0.5));
  CHECK(at(all, 0).share.value() == doctest::Approx(0.5));
  CHECK(at(all, 1).share.value() == doctest::Approx(0.25));
  CHECK(at(all, 4).share.undecided == 1);
  CHECK(all.geometric_mean.value == doctest::Approx(std::sqrt(2.0)));
  CHECK(all.geometric_mean.values == 2);
  CHECK(all.median.value == doctest::Approx(2.25));
  CHECK(all.amsr.value == doctest::Approx(1.0));    // 4 of 4 tasks: 0.5 is slower and counts 0
  CHECK(all.mean.value == doctest::Approx(1.125));  // (4 + 0.5) / 4
}

TEST_CASE("a score without a speedup is correct, and faster than nothing") {
  const auto all = score_groups({task_of({.called = true, .correct = true})}, {}).front();
  CHECK(at(all, 0).share.decided == 1);
  CHECK(at(all, 0.5).share.counted == 0);
  CHECK(all.geometric_mean.values == 0);
}

TEST_CASE("of several solutions, the share of one is the mean over them") {
  task_score t = task_of(fast(3, 2.9, 3.1));
  t.solutions = {fast(3, 2.9, 3.1), fast(0.9, 0.85, 0.95), {}, {}};
  const auto all = score_groups({t, task_of(solution_score{})}, {}).front();
  CHECK(at(all, 1).share.value() == doctest::Approx(0.5));
  CHECK(at(all, 1).of_one == doctest::Approx(0.125));
  CHECK(at(all, 0).of_one == doctest::Approx(0.25));
}

TEST_CASE("levels are in order of their numbers; categories have groups of their own") {
  const auto groups = score_groups({task_of(fast(2, 1.9, 2.1), "10", "gemm"),
                                    task_of(fast(2, 1.9, 2.1), "2", "gemm"), task_of({}, "2", "softmax")},
                                   {});
  REQUIRE(groups.size() == 5);
  CHECK(groups[1].kind == "level");
  CHECK(groups[1].name == "2");
  CHECK(groups[2].name == "10");
  CHECK(groups[3].name == "gemm");
  CHECK(at(groups[1], 1).share.value() == doctest::Approx(0.5));
}

TEST_CASE("the interval of Clopper and Pearson holds the binomial tails that define it") {
  for (const std::size_t n : {1U, 5U, 20U, 100U}) {
    for (std::size_t k = 0; k <= n; k += 1 + n / 7) {
      const interval range = clopper_pearson(k, n, 0.05);
      double above = 0;
      double below = 0;
      for (std::size_t i = k; i <= n; ++i) above += range.low > 0 ? binomial(n, i, range.low) : 0;
      for (std::size_t i = 0; i <= k; ++i) below += range.high < 1 ? binomial(n, i, range.high) : 0;
      if (k > 0) CHECK(above == doctest::Approx(0.025).epsilon(1e-6));
      if (k < n) CHECK(below == doctest::Approx(0.025).epsilon(1e-6));
      if (k == 0) CHECK(range.low == 0);
      if (k == n) CHECK(range.high == 1);
    }
  }
  CHECK(clopper_pearson(0, 0, 0.05) == interval{0, 1});
}

TEST_CASE("the interval of a median is between order statistics, and absent for few values") {
  std::vector<task_score> tasks;
  for (int i = 1; i <= 5; ++i) tasks.push_back(task_of(fast(i, i, i)));
  CHECK_FALSE(score_groups(tasks, {}).front().median.range);
  for (int i = 6; i <= 10; ++i) tasks.push_back(task_of(fast(i, i, i)));
  const auto median = score_groups(tasks, {}).front().median;
  REQUIRE(median.range);
  // Of 10 values, those with ranks 2 and 9 hold the median with 97.9 %.
  CHECK(median.range->low == 2);
  CHECK(median.range->high == 9);
}

TEST_CASE("SOL's score is 0.5 at the baseline, 1 at the speed of light, and absent without one") {
  workload_result w{.time_ns = 100, .baseline_ns = 100, .sol_fraction = 0.25};
  CHECK(*sol_score_of(w) == doctest::Approx(0.5));
  w.time_ns = 25, w.sol_fraction = 1;
  CHECK(*sol_score_of(w) == doctest::Approx(1));
  w.time_ns = 50, w.sol_fraction = 0.5;  // 1 / (1 + 25 / 75)
  CHECK(*sol_score_of(w) == doctest::Approx(0.75));
  w.sol_fraction = 0;
  CHECK_FALSE(sol_score_of(w));
  w.sol_fraction = 0.5, w.baseline_ns = 20;  // a baseline below the speed of light
  CHECK_FALSE(sol_score_of(w));
}

TEST_CASE("wrong and suspect results are called, crashes and builds that fail are not") {
  evaluation e;
  const auto called = [&](outcome o, evaluation_stage stage) {
    e.outcome = o;
    e.stage = stage;
    return score_of(e).called;
  };
  CHECK(called(outcome::valid, evaluation_stage::confirmed));
  CHECK(called(outcome::incorrect, evaluation_stage::built));
  CHECK(called(outcome::suspect, evaluation_stage::timed_full));
  CHECK(called(outcome::rejected, evaluation_stage::checked));
  CHECK_FALSE(called(outcome::rejected, evaluation_stage::none));
  CHECK_FALSE(called(outcome::build_failed, evaluation_stage::none));
  CHECK_FALSE(called(outcome::crashed, evaluation_stage::built));
  CHECK_FALSE(called(outcome::timed_out, evaluation_stage::built));
  e.outcome = outcome::suspect;
  e.speedup = 100;
  CHECK_FALSE(score_of(e).correct);
  CHECK(score_of(e).speedup == 0);
}

TEST_CASE("what fails on hidden workloads alone is correct at the given size") {
  evaluation e;
  e.workloads = {{.uuid = "given", .outcome = outcome::valid},
                 {.uuid = "secret", .hidden = true, .outcome = outcome::incorrect},
                 {.uuid = "not run", .hidden = true}};
  for (const auto failed : {outcome::incorrect, outcome::crashed, outcome::timed_out}) {
    e.outcome = failed;
    CHECK(score_of(e).given_size);
    CHECK_FALSE(score_of(e).correct);
  }
  // Programs that cheat, and times that are impossible, are no matter of a size.
  for (const auto failed : {outcome::rejected, outcome::suspect, outcome::build_failed}) {
    e.outcome = failed;
    CHECK_FALSE(score_of(e).given_size);
  }
  e.outcome = outcome::incorrect;
  e.workloads[0].outcome = outcome::incorrect;
  CHECK_FALSE(score_of(e).given_size);
  e.workloads[0].outcome.reset();  // nobody knows
  CHECK_FALSE(score_of(e).given_size);
  e.workloads[0].outcome = outcome::valid;
  e.workloads[1].outcome.reset();  // nothing says that it was a hidden one
  CHECK_FALSE(score_of(e).given_size);
  e.outcome = outcome::valid;
  CHECK(score_of(e).given_size);
}

TEST_CASE("a task whose result does not depend on its inputs enters no figure") {
  std::vector<task_score> tasks = {task_of(fast(2, 1.9, 2.1), "1"), task_of(fast(96, 90, 99), "1")};
  tasks.back().fixed_result = true;
  const auto groups = score_groups(tasks, {});
  CHECK(groups.front().tasks == 1);
  const std::vector<task_score> without = {tasks.front()};
  CHECK(at(groups.front(), 1).share.value() == at(score_groups(without, {}).front(), 1).share.value());
}
