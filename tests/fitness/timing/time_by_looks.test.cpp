// The loop that takes pairs of all workloads, with samplers that need no programs.
#include "fitness/timing/time_by_looks.hpp"

#include <chrono>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

using namespace kevo;

namespace {

struct counting_sampler {
  std::size_t index = 0;
  int each = 1;          // pairs of a sample
  int fails_after = -1;  // pairs
  std::chrono::milliseconds takes{0};
  std::chrono::milliseconds waits{0};  // besides timing
  int pairs = 0;
  double waited_s = 0;
  int selected = 0;

  std::size_t workload() const { return index; }
  int pairs_so_far() const { return pairs; }
  double other_s() const { return waited_s; }
  void select() { ++selected; }
  std::optional<call_failure> sample() {
    if (fails_after >= 0 && pairs >= fails_after) return call_failure{.reason = "wrong result"};
    std::this_thread::sleep_for(takes);
    const auto start = std::chrono::steady_clock::now();
    std::this_thread::sleep_for(waits);
    waited_s += seconds_since(start);
    pairs += each;
    return std::nullopt;
  }
};
using workloads = std::vector<timed_workload<counting_sampler>>;

timing_end end_of(workloads& all, const timing_looks& looks, const auto& estimate, const auto& promises) {
  const auto end = time_by_looks(std::span(all), looks, 0.01, {}, estimate, promises);
  REQUIRE(std::holds_alternative<timing_end>(end));
  return std::get<timing_end>(end);
}

const auto wide = [](double) { return false; };
const auto promising = [] { return true; };
const timing_looks patient{
    .first = 4, .last = 40, .first_least = 4, .first_s = 1e9, .least = 6, .seconds = 1e9, .by_standing = true};

}  // namespace

TEST_CASE("every workload has the pairs of the last look, unless something ends the timing") {
  workloads all = {{{.index = 3}}, {{.index = 5, .each = 3}}};
  const auto end = end_of(all, patient, wide, promising);
  CHECK_FALSE(end.narrow);
  CHECK(end.stage() == evaluation_stage::timed_full);
  CHECK(all[0].sampler.pairs == 40);
  CHECK(all[1].sampler.pairs == 42);
  CHECK(all[0].sampler.selected > 1);
}

TEST_CASE("a narrow interval ends a timing at the first look, which is a full timing then") {
  workloads all = {{{}}};
  const auto end = end_of(all, patient, [](double) { return true; }, promising);
  CHECK(end.at_first);
  CHECK(end.stage() == evaluation_stage::timed_full);
  CHECK(all[0].sampler.pairs == 4);
}

TEST_CASE("a candidate that is behind has a short timing at the first look, and a full one later") {
  workloads all = {{{}}};
  CHECK(end_of(all, patient, wide, [] { return false; }).stage() == evaluation_stage::timed_short);
  CHECK(all[0].sampler.pairs == 4);
  workloads later = {{{}}};
  int looks = 0;
  CHECK(end_of(later, patient, wide, [&] { return ++looks < 3; }).stage() == evaluation_stage::timed_full);
  CHECK(later[0].sampler.pairs == 6);
}

TEST_CASE("each look has its part of the error probability") {
  workloads all = {{{}}};
  double standing = 0;
  int calls = 0;
  end_of(
      all, patient,
      [&](double alpha) {
        if (calls++ % 2 == 0)
          standing += alpha;
        else
          CHECK(alpha == doctest::Approx(0.0025));
        return false;
      },
      promising);
  CHECK(standing == doctest::Approx(0.005));
}

TEST_CASE("a confirmation takes no notice of the standing") {
  auto looks = patient;
  looks.by_standing = false;
  workloads all = {{{}}};
  end_of(all, looks, wide, [] { return false; });
  CHECK(all[0].sampler.pairs == 40);
}

TEST_CASE("time ends a timing, but not before there are the least pairs") {
  auto looks = patient;
  looks.first_s = looks.seconds = 0.002;
  workloads all = {{{.takes = std::chrono::milliseconds(2)}}};
  end_of(all, looks, wide, promising);
  CHECK(all[0].sampler.pairs == 6);
  looks.few_if_slow = true;
  workloads slow = {{{.takes = std::chrono::milliseconds(2)}}};
  end_of(slow, looks, wide, promising);
  CHECK(slow[0].sampler.pairs == 4);
}

TEST_CASE("what is no timing takes no time of it") {
  auto looks = patient;
  looks.last = 10;
  looks.first_s = looks.seconds = 0.05;
  workloads all = {{{.waits = std::chrono::milliseconds(10)}}};
  end_of(all, looks, wide, promising);
  CHECK(all[0].sampler.pairs == 10);
  CHECK(all[0].spent_s < 0.02);
}

TEST_CASE("a failure ends the timing and names its workload") {
  workloads all = {{{.index = 1}}, {{.index = 7, .fails_after = 5}}};
  const auto end = time_by_looks(std::span(all), patient, 0.01, {}, wide, promising);
  REQUIRE(std::holds_alternative<timing_failure>(end));
  CHECK(std::get<timing_failure>(end).workload == 7);
  CHECK(std::get<timing_failure>(end).failure.reason == "wrong result");
}

TEST_CASE("a timing that is stopped throws") {
  std::stop_source stop;
  stop.request_stop();
  workloads all = {{{}}};
  CHECK_THROWS_AS(time_by_looks(std::span(all), patient, 0.01, stop.get_token(), wide, promising), error);
}
