#pragma once
// Waits for other processes that measure, told by commands that have no display.

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include <kevo/evaluate.hpp>

namespace kevo::cli {

/// Says for which process evaluations wait, once a wait has lasted a second: "waits for process 4711 (kevo
/// run softmax.yaml), 12 s". At most one line in ten seconds, for the wait that began first.
class announced_waits {
 public:
  /// Prints "kevo: LINE" on standard error.
  announced_waits();
  /// @param say called with each line, on a thread of this object; may be slow
  explicit announced_waits(std::function<void(const std::string&)> say);
  announced_waits(const announced_waits&) = delete;
  announced_waits& operator=(const announced_waits&) = delete;
  ~announced_waits() = default;

  /// For `evaluation_request::waiting`. Several threads may call it at once. It must not outlive this object.
  wait_listener listener();

 private:
  using clock = std::chrono::steady_clock;
  struct wait {
    device_holder holder;
    clock::time_point since;
  };

  void tell(const std::optional<device_holder>& holder);
  void watch(const std::stop_token& stop);
  /// The line that is due now; empty if none is. Needs the guard.
  std::string due(clock::time_point now) const;

  std::function<void(const std::string&)> say_;
  std::mutex guard_;
  std::condition_variable_any changed_;
  std::map<std::thread::id, wait> waits_;  // each by the thread that waits
  clock::time_point quiet_until_{};
  std::jthread watcher_;  // the last member: it uses the others
};

}  // namespace kevo::cli
