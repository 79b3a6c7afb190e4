// one processor
// timeout: 600
// A confirmation times candidate and baseline with their code at several places.
#include <doctest/doctest.h>

#include "tests/fitness/cpu/line_task.hpp"

using namespace line_task;

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
