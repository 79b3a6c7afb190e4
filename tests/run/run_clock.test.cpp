// timed
// The run time stands still while a run waits for another process.
#include "src/run/run_clock.hpp"

#include <optional>
#include <thread>

#include <doctest/doctest.h>

#include "src/run/present_waits.hpp"

namespace {

void rest(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

}  // namespace

TEST_CASE("a run clock goes on from its offset, stands still during waits and goes on after them") {
  kevo::run_clock clock(100);
  rest(20);
  CHECK(clock.now_s() >= 100.02);
  clock.wait(true);
  const double begin = clock.now_s();
  rest(20);
  clock.wait(true);  // a second wait that overlaps the first one
  rest(20);
  clock.wait(false);
  rest(20);
  CHECK(clock.now_s() == begin);
  clock.wait(false);
  rest(20);
  CHECK(clock.now_s() >= begin + 0.02);
}

TEST_CASE("of several waits the one that began first is shown, and each is told of once") {
  int begun = 0, ended = 0;
  kevo::present_waits waits([&](bool begins) { ++(begins ? begun : ended); });
  const auto one = waits.listener(1);
  const auto two = waits.listener(2);
  CHECK_FALSE(waits.first());
  two(kevo::device_holder{4711, "kevo run a.yaml"});
  rest(2);
  one(kevo::device_holder{4712, ""});
  two(kevo::device_holder{4713, "kevo run b.yaml"});  // another process has it now: the same wait
  REQUIRE(waits.first());
  CHECK(to_string(waits.first()->holder) == "process 4713 (kevo run b.yaml)");
  CHECK(begun == 2);
  two(std::nullopt);
  two(std::nullopt);
  CHECK(ended == 1);
  REQUIRE(waits.first());
  CHECK(to_string(waits.first()->holder) == "process 4712");
  one(std::nullopt);
  CHECK_FALSE(waits.first());
  CHECK(ended == 2);
}
