// serial
// What of a short call is begun and ended rather than worked on lowers the lower end of intervals, and is
// told.
#include <string>

#include <doctest/doctest.h>

#include "fitness/machine/core_plan.hpp"
#include "tests/fitness/cpu/line_task.hpp"
#include "tests/support/skip.hpp"

TEST_CASE(
    "the interval of a small workload begins lower by a part of an empty call, that of a large one does "
    "not") {
  if (kevo::plan_cores(1).shared) return kevo_test::skip("calls are not delivered here");
  const auto clock = [](std::int64_t n, const std::string& body) {
    line_task::fixture f(n, {}, line_task::half_as_slow);
    const auto e = f.run(body, kevo::evaluation_stage::timed_short);
    REQUIRE(e.valid());
    CHECK(e.speedup_interval.low < e.speedup);
    return e.context.at("clock");
  };
  const std::string small = clock(128, line_task::right);
  INFO(small);
  const auto place = small.find("begin lower by the ");
  REQUIRE(place != std::string::npos);
  const int ns = std::stoi(small.substr(place + std::string("begin lower by the ").size()));
  CHECK(ns >= 10);
  CHECK(ns <= 1000);
  CHECK(clock(60000, line_task::right).find("begin lower") == std::string::npos);
}
