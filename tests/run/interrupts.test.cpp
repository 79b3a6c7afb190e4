#include "src/run/interrupts.hpp"

#include <csignal>

#include <doctest/doctest.h>

TEST_CASE("the first signal stops gracefully, the second cancels") {
  kevo::interrupts user;
  user.poll();
  CHECK(!user.graceful_stop().stop_requested());
  std::raise(SIGINT);
  user.poll();
  CHECK(user.graceful_stop().stop_requested());
  CHECK(!user.immediate_stop().stop_requested());
  std::raise(SIGTERM);
  user.poll();
  CHECK(user.immediate_stop().stop_requested());
}

TEST_CASE("a terminal that is closed stops as Ctrl-C does, unless nohup has been asked for") {
  {
    kevo::interrupts user;
    std::raise(SIGHUP);
    std::raise(SIGHUP);  // a shell that ends and the kernel both send it
    user.poll();
    CHECK(user.graceful_stop().stop_requested());
    CHECK(!user.immediate_stop().stop_requested());
  }
  std::signal(SIGHUP, SIG_IGN);
  {
    kevo::interrupts user;
    std::raise(SIGHUP);
    user.poll();
    CHECK(!user.graceful_stop().stop_requested());
  }
  std::signal(SIGHUP, SIG_DFL);
}

TEST_CASE("what is waited for is counted, and the next Ctrl-C is explained") {
  using kevo::waiting_line;
  CHECK(waiting_line({.evaluations = 2}, false) ==
        "waiting for 2 evaluations; press Ctrl-C again to cancel them");
  CHECK(waiting_line({.evaluations = 1, .confirmations = 3, .variations = 2}, false) ==
        "waiting for 1 evaluation, 3 confirmations and 2 operator turns; press Ctrl-C again to cancel them");
  CHECK(waiting_line({.variations = 1}, true) ==
        "cancelled 1 operator turn; press Ctrl-C again to exit without waiting for it");
  CHECK(waiting_line({}, false).empty());
}

TEST_CASE("after a stop rule it is said what is waited for, how long at most, and what was cancelled") {
  CHECK(
      kevo::finishing_line({.evaluations = 1, .confirmations = 2}, 118.2) ==
      "stopped; waiting for 1 evaluation and 2 confirmations (more confirmations may follow), at most 119 s "
      "(run.finish)");
  CHECK(kevo::finishing_line({.evaluations = 1}, 3) ==
        "stopped; waiting for 1 evaluation, at most 3 s (run.finish)");
  CHECK(kevo::finishing_line({}, 10).empty());
  CHECK(kevo::cut_off_line({.confirmations = 1}) ==
        "the time for finishing (run.finish) is over: cancelled 1 confirmation; `kevo resume` "
        "evaluates what was cancelled");
  CHECK(kevo::cut_off_line({.variations = 2}) ==
        "the time for finishing (run.finish) is over: cancelled 2 operator turns");
  CHECK(kevo::cut_off_line({}).empty());
}
