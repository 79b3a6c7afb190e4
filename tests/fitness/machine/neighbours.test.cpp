// What is said of neighbours, and that they take turns.
#include "fitness/machine/neighbours.hpp"

#include <algorithm>
#include <atomic>
#include <thread>
#include <unistd.h>
#include <vector>

#include <doctest/doctest.h>

#include "fitness/machine/cores.hpp"

TEST_CASE("the time in which programs waited is read from a pressure file") {
  CHECK(kevo::stalled_time(
            "some avg10=0.74 avg60=0.76 avg300=12.41 total=8066431354\nfull avg10=0.00 total=7\n") ==
        8066431354.0);
  CHECK_FALSE(kevo::stalled_time(""));
  CHECK_FALSE(kevo::stalled_time("full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"));
  CHECK_FALSE(kevo::stalled_time("some avg10=0.00"));
}

TEST_CASE("contention is a share") {
  const kevo::neighbour_watch watch;
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const auto share = watch.contention();
  if (!share) return;  // this kernel does not tell
  CHECK(*share >= 0);
  CHECK(*share <= 1);
}

TEST_CASE("who measures all the time does not starve who waits") {
  const std::vector<int> cpus = {90001};  // no processor: nobody else uses this lock
  std::atomic<bool> ended = false;
  std::thread busy([&] {
    while (!ended) {
      const kevo::measuring_lock lock(cpus);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  double longest = 0;
  for (int i = 0; i < 8; ++i) {
    const kevo::measuring_lock lock(cpus);
    longest = std::max(longest, lock.waited_s());
    CHECK((lock.holder() == 0 || lock.holder() == ::getpid()));
  }
  ended = true;
  busy.join();
  // One turn of the other takes 20 ms. Without a queue it is left to chance who has the lock next.
  CHECK(longest < 1);
}

TEST_CASE("a wait ends when it is asked to") {
  const std::vector<int> cpus = {90002};
  const kevo::measuring_lock mine(cpus);
  std::stop_source stop;
  stop.request_stop();
  CHECK_THROWS(kevo::measuring_lock(cpus, stop.get_token()));
}
