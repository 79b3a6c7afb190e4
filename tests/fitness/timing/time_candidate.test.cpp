// What becomes of the end of a timing, with samplers that need no programs.
#include "fitness/timing/time_candidate.hpp"

#include <limits>
#include <variant>
#include <vector>

#include <doctest/doctest.h>

using namespace kevo;

namespace {

struct steady_timer {
  std::vector<timing_pair> taken;
  const std::vector<timing_pair>& pairs() const { return taken; }
  std::size_t discarded() const { return 3; }
  std::variant<double, call_failure> sustained(double seconds) {
    if (seconds > 1) return call_failure{.reason = "wrong result"};
    return 7.0;
  }
};

struct steady_sampler {
  steady_timer timer;
  std::size_t workload() const { return 0; }
  int pairs_so_far() const { return static_cast<int>(timer.taken.size()); }
  double other_s() const { return 0; }
  void select() {}
  std::optional<call_failure> sample() {
    timer.taken.push_back({1, 2});
    return std::nullopt;
  }
};
using steady_workloads = std::vector<timed_workload<steady_sampler>>;

struct bench_of_one {
  struct all_settings {
    timing_settings timing;
    double promising = 1;
  };
  all_settings given;
  task about;
  const all_settings& settings() const { return given; }
  const task& subject() const { return about; }
};

struct one_candidate {
  bench_of_one bench;
  evaluation_request request;
  cascade_state p{request, {}};
  steady_workloads all = steady_workloads(1);
  one_candidate() {
    bench.about.workloads.resize(1);
    p.result.workloads = blank_results(bench.about);
  }
  int pairs() const { return all.front().sampler.pairs_so_far(); }
  /// Intervals have ends from so many pairs on.
  bool time_until(int enough, const timing_looks& looks) {
    return time_by(looks, bench, p, std::span(all), [&](double) {
      p.result.speedup = 2;
      p.result.speedup_interval = {1.9, 2.1};
      if (pairs() < enough) p.result.speedup_interval = {0, std::numeric_limits<double>::infinity()};
      return false;
    });
  }
};

}  // namespace

TEST_CASE("an interval without ends is measured again, or gives no result") {
  one_candidate usual;
  CHECK(usual.time_until(3, further_looks({})));
  CHECK(usual.pairs() == 8);
  CHECK(usual.p.result.stage == evaluation_stage::confirmed);
  one_candidate slow;
  CHECK(slow.time_until(20, brief_looks()));
  CHECK(slow.pairs() == 24);  // 3, 6, 12, 24
  CHECK(has_intervals(slow.p.result));
  CHECK(slow.p.result.stage == evaluation_stage::timed_short);
  one_candidate never;
  CHECK_THROWS_AS(never.time_until(1000, brief_looks()), error);
}

TEST_CASE("an interval of the other clock has two ends, too") {
  evaluation e;
  e.speedup_interval = {0.9, 1.1};
  CHECK(has_intervals(e));
  e.device_speedup = 1;
  e.host_speedup_interval = {0.9, 1.1};
  e.device_speedup_interval = {0, std::numeric_limits<double>::infinity()};
  CHECK_FALSE(has_intervals(e));
  e.device_speedup_interval = {0.5, 3};
  CHECK(has_intervals(e));
}

TEST_CASE("a champion is timed alone, and discarded pairs are told") {
  one_candidate one;
  one.time_until(0, brief_looks());
  CHECK(time_alone(one.bench, one.p, std::span(one.all)));
  CHECK(one.p.result.workloads.front().sustained_ns == 7);
  tell_discarded(one.p.result, std::span<const timed_workload<steady_sampler>>(one.all));
  CHECK(one.p.result.context.at("discarded_pairs") == "3");
  one.bench.given.timing.sustained_s = 2;
  CHECK_FALSE(time_alone(one.bench, one.p, std::span(one.all)));
  CHECK(one.p.result.reasons.front() == "wrong result");
  one.bench.given.timing.sustained_s = 0;
  CHECK(time_alone(one.bench, one.p, std::span(one.all)));
}
