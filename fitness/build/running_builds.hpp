#pragma once
// Where cores are few, compilers stand still or stand back while a time is taken.

#include <condition_variable>
#include <mutex>
#include <optional>
#include <stop_token>
#include <vector>

#include "fitness/process/process.hpp"

namespace kevo {

/// The running builds, which a measurer can pause all at once. Thread-safe; must outlive its guards and
/// builds.
class running_builds {
 public:
  /// Keeps every build stopped while it lives.
  class pause_guard {
   public:
    pause_guard() = default;
    explicit pause_guard(running_builds& builds) : builds_(&builds) {}
    pause_guard(pause_guard&& other) noexcept : builds_(other.builds_) { other.builds_ = nullptr; }
    pause_guard& operator=(pause_guard&& other) noexcept {
      std::swap(builds_, other.builds_);
      return *this;
    }
    pause_guard(const pause_guard&) = delete;
    pause_guard& operator=(const pause_guard&) = delete;
    ~pause_guard() {
      if (builds_ != nullptr) builds_->resume_all();
    }

   private:
    running_builds* builds_ = nullptr;
  };

  /// Stops all running builds; returns when every process of each is confirmed to stand still. New builds
  /// wait. Several measurers may hold guards; builds go on when the last is gone. A build that cannot be
  /// stopped is killed.
  [[nodiscard]] pause_guard pause_all();

  /// Lets all builds, new ones included, run on processor `cpu` alone, and there only while nobody else wants
  /// it: the thread that measures has to be on that processor, and sleeps while a call runs. Otherwise as
  /// `pause_all`.
  [[nodiscard]] pause_guard stand_back(int cpu);

  /// `launch` and `wait` as one of these builds.
  /// @throws kevo::error (interrupted) if `stop` came before the start, else what `launch` throws
  exit_report run(const launch_spec& spec, std::stop_token stop = {});

  /// Builds that run now, paused or not.
  std::size_t count() const;

 private:
  void await_launches(std::unique_lock<std::mutex>& lock);
  void stand_back(child_process& build);
  void resume_all();

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  int pauses_ = 0;
  std::optional<int> back_;  // the processor, while there is one guard, which is of `stand_back`
  int launching_ = 0;
  std::vector<child_process*> builds_;
};

}  // namespace kevo
