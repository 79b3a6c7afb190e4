#pragma once
// A lock that the threads of one process get in the order in which they asked for it.

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <stop_token>

#include <kevo/error.hpp>

namespace kevo {

/// One thread at a time has the lock; the others get it in the order in which they asked. A thread that has
/// the lock must not ask for it again.
class fifo_lock {
 public:
  /// Has the lock while it lives. Must not outlive its `fifo_lock`.
  class hold {
   public:
    hold(const hold&) = delete;
    hold& operator=(const hold&) = delete;
    ~hold() { of_.leave(number_); }

   private:
    friend class fifo_lock;
    hold(fifo_lock& of, std::uint64_t number) : of_(of), number_(number) {}
    fifo_lock& of_;
    std::uint64_t number_;
  };

  /// Waits for the lock. @throws kevo::error (interrupted) if `stop` comes first
  hold take(const std::stop_token& stop) {
    std::unique_lock lock(guard_);
    const std::uint64_t mine = next_++;
    queue_.push_back(mine);
    if (changed_.wait(lock, stop, [&] { return queue_.front() == mine; })) return {*this, mine};
    lock.unlock();
    leave(mine);
    throw error(error_code::interrupted, "stopped while waiting for other measurements of this process");
  }

 private:
  void leave(std::uint64_t number) {
    const std::scoped_lock lock(guard_);
    std::erase(queue_, number);
    changed_.notify_all();
  }

  std::mutex guard_;
  std::condition_variable_any changed_;
  std::deque<std::uint64_t> queue_;  // who has the lock, then those that wait
  std::uint64_t next_ = 0;
};

}  // namespace kevo
