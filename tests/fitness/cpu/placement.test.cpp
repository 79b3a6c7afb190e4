// one processor
// timeout: 600
// A confirmation times candidate and baseline with their code at several places, and a block whose baseline
// takes too long is begun again.
#include <stop_token>

#include <doctest/doctest.h>

#include "fitness/cpu/bench.hpp"
#include "fitness/cpu/paired.hpp"
#include "fitness/cpu/places.hpp"
#include "tests/fitness/cpu/line_task.hpp"

using namespace line_task;

TEST_CASE("however many processes a pair has, enough pairs have places of their own") {
  for (std::size_t processes = 1; processes <= 6; ++processes) {
    for (const std::size_t pair : {0U, 7U, 8U, 40U}) {
      CAPTURE(processes);
      CAPTURE(pair);
      CHECK(kevo::pairs_at_other_places(kevo::places_for_pair(pair, processes), processes) >=
            std::size_t{kevo::fewest_pairs});
    }
  }
  CHECK(kevo::places_for_pair(0, 1) == 8);
  CHECK(kevo::places_for_pair(8, 1) == 16);
  CHECK(kevo::places_for_pair(0, 4) == 16);
}

TEST_CASE("a confirmation covers at least eight places of the code, and nothing else does") {
  fixture f(6000);
  const auto confirmed = f.run(half_as_slow, kevo::evaluation_stage::confirmed);
  REQUIRE_MESSAGE(confirmed.valid(), confirmed.feedback);
  const auto& w = confirmed.workloads[0];
  CHECK(w.placements >= 8);
  CHECK(w.placements <= w.samples.size());
  CHECK(confirmed.feedback.find(std::to_string(w.placements) + " places of its code") != std::string::npos);
  CHECK(confirmed.workloads[1].placements == 0);  // is hidden

  const auto timed = f.run(right, kevo::evaluation_stage::timed_full);
  REQUIRE_MESSAGE(timed.valid(), timed.feedback);
  CHECK(timed.workloads[0].placements == 0);
  CHECK(timed.feedback.find("places of its code") == std::string::npos);
}

TEST_CASE("a program that fails in a confirmation leaves the baseline where it was") {
  fixture f(6000);
  // The calls of a process are counted: the first ones of each are right.
  const std::string wrong_later = "static int calls = 0;\nif (++calls > 3) { y[0] = 0; return; }\n" + right;
  const auto failed = f.run(wrong_later, kevo::evaluation_stage::confirmed);
  CHECK_FALSE(failed.valid());
  const auto timed = f.run(half_as_slow, kevo::evaluation_stage::timed_full);
  REQUIRE_MESSAGE(timed.valid(), timed.feedback);
  CHECK(timed.workloads[0].placements == 0);
}

TEST_CASE(
    "a speedup over a further baseline has an interval over places, too, and leaves the baseline where it "
    "was") {
  // Long enough that what lies around a call is little beside it, also in a sanitized build, where it takes
  // as long as half_as_slow.
  const auto t = example(6000, again_and_again(96));
  t->baselines.push_back({.name = "faster", .source = *candidate(again_and_again(24))});
  kevo::cpu_fitness fitness(t, fixture::settings({}));
  kevo::evaluation_request request;
  request.program = candidate(again_and_again(48));
  request.wanted = kevo::evaluation_stage::confirmed;
  const auto e = fitness.evaluate(request);
  REQUIRE_MESSAGE(e.valid(), e.feedback);
  CHECK(e.other_speedups.size() == 1);
  const double speedup = e.other_speedups.at("faster");
  const auto range = e.other_speedup_intervals.at("faster");
  CHECK(range.low > 0);
  CHECK(range.low < speedup);
  CHECK(speedup < range.high);
  CHECK(range.high < 10 * range.low);
  // Twice the work takes about twice the time, and four times that of the first baseline is told apart.
  CHECK(speedup > 0.35);
  CHECK(speedup < 0.75);
  CHECK(e.speedup > 2 * speedup);
  CHECK(e.workloads[0].placements >= 8);
  CHECK(e.workloads[0].samples.size() >= 8);  // those with the first baseline

  request.wanted = kevo::evaluation_stage::timed_full;
  request.program = candidate(again_and_again(18));
  const auto timed = fitness.evaluate(request);
  REQUIRE_MESSAGE(timed.valid(), timed.feedback);
  CHECK(timed.other_speedups.empty());
  CHECK(timed.workloads[0].placements == 0);
}

TEST_CASE("a block in which the baseline takes too long is begun again, and not for ever") {
  auto settings = fixture::settings({});
  kevo::test_bench bench(example(6000), settings);
  bench.prepare({});
  const auto held = bench.take_processors({});
  const auto built = bench.build_candidate(*candidate(half_as_slow), {});
  const auto endless = bench.build_candidate(*candidate("for (volatile int on = 1; on;) {}\n"), {});
  REQUIRE((built.ok && endless.ok));
  auto program = bench.run_candidate(built.object_path, {});
  auto& baseline = *bench.first_baseline().program;
  auto timer = bench.plan_for(0, 0, program);
  timer.select();
  baseline.place_at({endless.object_path, baseline.object()});
  const auto failure = timer.block();
  CHECK_FALSE(failure);
  CHECK(timer.pairs().size() == 1);
  CHECK(timer.discarded() == 1);
  baseline.place_at({endless.object_path});
  CHECK_THROWS_AS(timer.block(), kevo::error);
  CHECK(timer.pairs().size() == 1);
  baseline.place_at({});
  CHECK_FALSE(timer.block());
}
