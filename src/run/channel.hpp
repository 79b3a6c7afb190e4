#pragma once
// A queue between threads.

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

namespace kevo {

/// A queue that threads wait on.
template <class T>
class channel {
 public:
  void push(T item) {
    {
      const std::scoped_lock lock(guard_);
      items_.push_back(std::move(item));
    }
    ready_.notify_one();
  }
  /// The next item; nothing once `stop` is requested and the queue is empty.
  std::optional<T> pop(const std::stop_token& stop) {
    std::unique_lock lock(guard_);
    if (!ready_.wait(lock, stop, [this] { return !items_.empty(); })) return std::nullopt;
    return take();
  }
  std::optional<T> pop_for(double seconds) {
    std::unique_lock lock(guard_);
    const auto patience = std::chrono::duration<double>(seconds);
    if (!ready_.wait_for(lock, patience, [this] { return !items_.empty(); })) return std::nullopt;
    return take();
  }

 private:
  T take() {
    T item = std::move(items_.front());
    items_.pop_front();
    return item;
  }
  std::mutex guard_;
  std::condition_variable_any ready_;
  std::deque<T> items_;
};

}  // namespace kevo
