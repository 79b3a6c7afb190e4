#pragma once
// The processor time that another process has used, as the kernel's books have it.

#include <ctime>
#include <sys/types.h>

namespace kevo {

/// Watches one process. The kernel brings the accounts up to date whenever a thread leaves its processor and
/// whenever they are read.
class processor_clock {
 public:
  /// @throws kevo::error (environment) if there is no such process
  explicit processor_clock(pid_t process);
  processor_clock(processor_clock&& other) noexcept;
  processor_clock& operator=(processor_clock&&) = delete;
  ~processor_clock();

  /// Of all its threads together, the kernel's work on their behalf included. [ns] Negative if it has ended.
  double used_ns() const noexcept;
  /// For how long the main thread was ready to run and had no processor (/proc/PID/schedstat). Waiting by
  /// choice is not in it. [ns] 0 where the kernel keeps no such account.
  double delayed_ns() const noexcept;
  /// How often the main thread left its processor of its own accord: to sleep, or to stop. Negative if it has
  /// ended.
  long rests() const noexcept;
  /// Whether the main thread is off its processor: asleep, stopped or ended.
  bool at_rest() const noexcept;
  /// Whether the main thread is stopped by a signal, or has ended before other threads of the process.
  bool stands_still() const noexcept;

 private:
  clockid_t clock_ = 0;
  int stat_ = -1;    // /proc/PID/task/PID/stat
  int delay_ = -1;   // /proc/PID/task/PID/schedstat
  int status_ = -1;  // /proc/PID/task/PID/status
};

}  // namespace kevo
