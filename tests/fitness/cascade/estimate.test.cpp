// What intervals say where pairs come from few processes: those of a confirmation count by process, those of
// a first look are widened by what another process might have added.
#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/evaluate/statistics.hpp>
#include <kevo/random.hpp>

#include "fitness/cascade/cascade.hpp"

namespace {

using namespace kevo;

evaluation estimated(const std::vector<timing_pair>& pairs, std::size_t per_process, double spread_ns,
                     double alpha = 0.05) {
  task t;
  t.workloads.push_back({.uuid = "one"});
  evaluation e;
  e.workloads = blank_results(t);
  estimate_all(e, t,
               {{.workload = 0, .pairs = &pairs, .per_process = per_process, .process_spread_ns = spread_ns}},
               alpha, 0.02);
  return e;
}

// The same program on both sides; every process adds what is its own, every pair a little more.
std::vector<timing_pair> against_itself(rng& random, std::size_t processes, std::size_t per_process,
                                        double process_sd, double pair_sd) {
  std::vector<timing_pair> pairs;
  for (std::size_t p = 0; p < processes; ++p) {
    const double candidate = process_sd * random.normal();
    const double baseline = process_sd * random.normal();
    for (std::size_t k = 0; k < per_process; ++k) {
      pairs.push_back({1000 * std::exp(candidate + pair_sd * random.normal()),
                       1000 * std::exp(baseline + pair_sd * random.normal())});
    }
  }
  return pairs;
}

int misses(std::size_t counted_per_process, double spread_ns, std::size_t processes,
           std::size_t per_process) {
  rng random(7);
  int missed = 0;
  for (int i = 0; i < 1000; ++i) {
    const auto e = estimated(against_itself(random, processes, per_process, 0.02, 0.002), counted_per_process,
                             spread_ns);
    missed += e.speedup_interval.low > 1 || e.speedup_interval.high < 1 ? 1 : 0;
  }
  return missed;
}

}  // namespace

TEST_CASE("pairs of one process count as one value, their geometric mean") {
  const std::vector<timing_pair> pairs = {{100, 200}, {400, 200}, {300, 300},
                                          {300, 300}, {50, 100},  {50, 400}};
  const std::vector<timing_pair> means = {{200, 200}, {300, 300}, {50, 200}};
  const auto grouped = estimated(pairs, 2, 0);
  const auto expected = speedup_of(means, 0.05);
  CHECK(grouped.speedup == doctest::Approx(expected.value));
  CHECK(grouped.speedup_interval.low == doctest::Approx(expected.range.low));
  CHECK(grouped.speedup_interval.high == doctest::Approx(expected.range.high));
  CHECK(std::stod(grouped.context.at(interval_alpha_key)) == 0.05);  // what the interval was made with
  CHECK(grouped.workloads.front().samples == pairs);                 // what was measured is kept as it was
}

TEST_CASE("an interval by process covers the truth as often as it says, one by pairs does not") {
  CHECK(misses(2, 0, 4, 2) <= 80);   // 50 of 1000 are expected
  CHECK(misses(1, 0, 4, 2) >= 100);  // neighbours are no new evidence
}

TEST_CASE("where all pairs are of two processes, the interval has room for what others would have added") {
  // A spread of 2 % of 1000 ns is 20 ns.
  CHECK(misses(1, 20, 1, 8) <= 80);
  CHECK(misses(1, 0, 1, 8) >= 500);
}

TEST_CASE("a time that only one clock saw counts in the estimate and not in the upper end of the interval") {
  // The same program on both sides; one of the clocks saw 100 ns of 1,100 that the other did not.
  rng random(5);
  auto pairs = against_itself(random, 1, 4, 0, 0.002);
  const auto agreed = estimated(pairs, 1, 0);
  for (auto& pair : pairs) pair.candidate_ns += 100;
  task t;
  t.workloads.push_back({.uuid = "one"});
  evaluation e;
  e.workloads = blank_results(t);
  estimate_all(e, t, {{.workload = 0, .pairs = &pairs, .doubtful_ns = 100}}, 0.05, 0.02);
  CHECK(e.speedup == doctest::Approx(1000.0 / 1100).epsilon(0.005));
  CHECK(e.speedup_interval.low < 1000.0 / 1100);
  CHECK(e.speedup_interval.high == doctest::Approx(agreed.speedup_interval.high).epsilon(0.001));
  CHECK(e.speedup_interval.high > 1);
}

TEST_CASE("what of a call may be signals lowers the lower end alone, and asks for no further pairs") {
  // 25 ns of 250 are spared.
  std::vector<timing_pair> pairs;
  for (int i = 0; i < 12; ++i) pairs.push_back({225 * (1 + 1e-4 * i), 250});
  const auto without = estimated(pairs, 1, 0);
  CHECK(without.speedup_interval.low > 1.05);
  task t;
  t.workloads.push_back({.uuid = "one"});
  evaluation e;
  e.workloads = blank_results(t);
  CHECK(estimate_all(e, t, {{.workload = 0, .pairs = &pairs, .signals_ns = 50}}, 0.05, 0.02));
  CHECK(e.speedup == without.speedup);
  CHECK(e.speedup_interval.low == doctest::Approx(without.speedup_interval.low * 225 / 275).epsilon(0.001));
  CHECK(e.speedup_interval.high == without.speedup_interval.high);
}

TEST_CASE("what a process adds is nothing to a long call") {
  std::vector<timing_pair> pairs;
  for (int i = 0; i < 8; ++i) pairs.push_back({5e6 * (1 + 0.001 * i), 5e6});
  const auto narrow = estimated(pairs, 1, 0).speedup_interval;
  const auto widened = estimated(pairs, 1, 400).speedup_interval;
  CHECK(widened.low <= narrow.low);
  CHECK(widened.low == doctest::Approx(narrow.low).epsilon(1e-4));
  CHECK(widened.high == doctest::Approx(narrow.high).epsilon(1e-4));
}

TEST_CASE("an indirect comparison multiplies the speedups and covers the truth as often as it says") {
  // Candidate 3 times as fast as the comparator, which is 20 times as fast as the baseline.
  constexpr double truth = 60;
  rng random(11);
  task t;
  t.workloads.push_back({.uuid = "one"});
  const auto drawn = [&](double ratio, int count) {
    std::vector<timing_pair> pairs;
    for (int i = 0; i < count; ++i)
      pairs.push_back(
          {1e6 * std::exp(0.03 * random.normal()), 1e6 * ratio * std::exp(0.03 * random.normal())});
    return pairs;
  };
  int missed = 0;
  for (int i = 0; i < 1000; ++i) {
    const auto pairs = drawn(3, 6);
    const auto link = speedup_of(drawn(20, 10), 0.025);
    evaluation e;
    e.workloads = blank_results(t);
    estimate_all(e, t, {{.workload = 0, .pairs = &pairs, .comparator = link}}, 0.025, 0.02);
    missed += e.speedup_interval.low > truth || e.speedup_interval.high < truth ? 1 : 0;
    CHECK(e.speedup == doctest::Approx(speedup_of(pairs, 0.025).value * link.value));
    const auto& w = e.workloads.front();
    CHECK(w.baseline_ns / w.time_ns == doctest::Approx(e.speedup).epsilon(0.05));
    CHECK(speedup_of(w.samples, 0.025).value == doctest::Approx(e.speedup));
  }
  CHECK(missed <= 50);  // of 1000, at 5 %
}

TEST_CASE("pairs whose code lies at the same places count as one value") {
  rng random(8);
  task t;
  t.workloads.push_back({.uuid = "one"});
  // Far apart from place to place, and close to each other at the same ones.
  const auto misses_of = [&](std::size_t placements) {
    int missed = 0;
    for (int i = 0; i < 1000; ++i) {
      std::vector<double> places;
      for (int k = 0; k < 16; ++k) places.push_back(0.05 * random.normal());
      std::vector<timing_pair> pairs;
      for (std::size_t k = 0; k < 40; ++k)
        pairs.push_back({1e5 * std::exp(places[k % 16] + 0.002 * random.normal()), 1e5});
      evaluation e;
      e.workloads = blank_results(t);
      estimate_all(
          e, t,
          {{.workload = 0, .pairs = &pairs, .placements = placements, .comparator = {}, .independent = true}},
          0.05, 0.02);
      missed += e.speedup_interval.low > 1 || e.speedup_interval.high < 1 ? 1 : 0;
      CHECK(e.workloads.front().samples.size() == 40);
    }
    return missed;
  };
  CHECK(misses_of(16) <= 80);
  CHECK(misses_of(0) > 150);  // as if all were independent
}

TEST_CASE("a speedup over a further baseline is kept with its interval, or not at all") {
  evaluation e;
  evaluation against;
  against.speedup = 0.935;
  against.speedup_interval = {0.921, 0.948};
  keep_other_speedup(e, "cublas", against);
  CHECK(e.other_speedups.at("cublas") == 0.935);
  CHECK(e.other_speedup_intervals.at("cublas") == interval{0.921, 0.948});
  CHECK_FALSE(e.context.contains("baselines_left_out"));

  task t;
  t.workloads.push_back({.uuid = "one"});
  against.workloads = blank_results(t);
  const std::vector<timing_pair> single = {{2e5, 1e5}};
  estimate_all(against, t, {{.workload = 0, .pairs = &single, .comparator = {}}}, 0.01, 0.02);
  CHECK(against.speedup == doctest::Approx(0.5));
  keep_other_speedup(e, "cutlass", against);
  CHECK_FALSE(e.other_speedups.contains("cutlass"));
  CHECK_FALSE(e.other_speedup_intervals.contains("cutlass"));
  CHECK(e.context.at("baselines_left_out") == "cutlass (too few pairs of readings for an interval)");

  e.outcome = outcome::incorrect;
  conclude(e);
  CHECK(e.other_speedups.empty());
  CHECK(e.other_speedup_intervals.empty());
}
