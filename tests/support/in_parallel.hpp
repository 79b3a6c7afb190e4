// Runs independent parts of a test on several threads.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace kevo_test {

/// Calls `work(i)` for every i below `count`, on at most `most` threads and on no more than half of the
/// processors. An exception of a call is thrown again when all calls are over; the first one if there are
/// several.
template <class Work>
void in_parallel(std::size_t count, std::size_t most, Work work) {
  const std::size_t threads = std::clamp<std::size_t>(std::thread::hardware_concurrency() / 2, 1, most);
  std::atomic<std::size_t> next = 0;
  std::mutex guard;
  std::exception_ptr failed;
  {
    std::vector<std::jthread> all;
    for (std::size_t t = 0; t < std::min(threads, count); ++t) {
      all.emplace_back([&] {
        for (std::size_t i = next++; i < count; i = next++) {
          try {
            work(i);
          } catch (...) {
            const std::lock_guard lock(guard);
            if (!failed) failed = std::current_exception();
          }
        }
      });
    }
  }
  if (failed) std::rethrow_exception(failed);
}

}  // namespace kevo_test
