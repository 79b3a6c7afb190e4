// timed
// Threads that wait for a lock get it in the order in which they asked.
#include "fitness/machine/fifo_lock.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

using kevo::fifo_lock;

namespace {

/// Starts a thread and gives it time to ask for its turn before the next one does.
std::jthread asks(const std::function<void()>& work) {
  std::jthread made(work);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  return made;
}

}  // namespace

TEST_CASE("the lock is given in the order in which it was asked for, and to one thread at a time") {
  fifo_lock of;
  std::mutex guard;
  std::vector<int> order;
  int inside = 0, most = 0;
  {
    std::vector<std::jthread> threads;
    const auto mine = of.take({});
    for (int i = 0; i < 4; ++i) {
      threads.push_back(asks([&, i] {
        const auto turn = of.take({});
        {
          const std::scoped_lock lock(guard);
          order.push_back(i);
          most = std::max(most, ++inside);
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        const std::scoped_lock lock(guard);
        --inside;
      }));
    }
    CHECK(order.empty());
  }
  CHECK(order == std::vector<int>{0, 1, 2, 3});
  CHECK(most == 1);
}

TEST_CASE("a thread that is stopped while it waits leaves the queue to those behind it") {
  fifo_lock of;
  std::stop_source stop;
  bool stopped = false, served = false;
  {
    std::vector<std::jthread> threads;
    const auto mine = of.take({});
    threads.push_back(asks([&] {
      try {
        const auto turn = of.take(stop.get_token());
      } catch (const kevo::error& e) {
        stopped = e.code() == kevo::error_code::interrupted;
      }
    }));
    threads.push_back(asks([&] {
      const auto turn = of.take({});
      served = true;
    }));
    stop.request_stop();
    threads.front().join();
    CHECK(stopped);
    CHECK_FALSE(served);
  }
  CHECK(served);
}
