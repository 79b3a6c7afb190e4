#pragma once
// The processor time that another process has used, as the kernel's books have it.

#include <ctime>
#include <sys/types.h>

namespace kevo {

/// Watches one process. The kernel brings the books up to date whenever a thread leaves its processor, so the
/// figure is exact while the process stands still or sleeps; while it runs, it may lag behind by a tick.
class processor_clock {
 public:
  /// @throws kevo::error (environment) if there is no such process
  explicit processor_clock(pid_t process);
  processor_clock(processor_clock&& other) noexcept;
  processor_clock& operator=(processor_clock&&) = delete;
  ~processor_clock();

  /// Of all its threads together, the kernel's work on their behalf included. [ns] Negative if it has ended.
  double used_ns() const noexcept;
  /// How often the main thread left its processor of its own accord: to sleep, or to stop. Negative if it has
  /// ended.
  long rests() const noexcept;
  /// Whether the main thread is off its processor: asleep, stopped or ended.
  bool at_rest() const noexcept;

 private:
  clockid_t clock_ = 0;
  int stat_ = -1;    // /proc/PID/task/PID/stat
  int status_ = -1;  // /proc/PID/task/PID/status
};

}  // namespace kevo
