#include "src/run/interrupts.hpp"

#include <csignal>

#include <doctest/doctest.h>

TEST_CASE("the first signal winds down, the second cancels") {
  kevo::interrupts user;
  user.poll();
  CHECK(!user.wind_down().stop_requested());
  std::raise(SIGINT);
  user.poll();
  CHECK(user.wind_down().stop_requested());
  CHECK(!user.at_once().stop_requested());
  std::raise(SIGTERM);
  user.poll();
  CHECK(user.at_once().stop_requested());
}

TEST_CASE("what is waited for is counted, and the next Ctrl-C is explained") {
  using kevo::waiting_line;
  CHECK(waiting_line(2, 0, false) == "waiting for 2 evaluations; press Ctrl-C again to cancel them");
  CHECK(waiting_line(1, 2, false) ==
        "waiting for 1 evaluation and 2 variations; press Ctrl-C again to cancel them");
  CHECK(waiting_line(0, 1, true) ==
        "cancelled 1 variation; press Ctrl-C again to exit without waiting for it");
  CHECK(waiting_line(0, 0, false).empty());
}
