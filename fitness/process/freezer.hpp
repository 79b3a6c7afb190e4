#pragma once
// Stopping one process, and knowing that it stands still, in tens of microseconds.

#include <chrono>
#include <memory>
#include <sys/types.h>

namespace kevo {

/// Stops and continues one process. SIGSTOP takes effect on each thread at its next return to user space, so
/// "sent" is not "stopped": /proc says when every thread is. Files are kept open and nothing is allocated
/// after construction. One thread at a time.
class freezer {
 public:
  /// @throws kevo::error (environment) if there is no such process
  explicit freezer(pid_t process);
  freezer(freezer&& other) noexcept;
  freezer& operator=(freezer&& other) noexcept;
  freezer(const freezer&) = delete;
  freezer& operator=(const freezer&) = delete;
  ~freezer();

  pid_t pid() const { return process_; }
  /// Sends SIGSTOP. False if the process has ended.
  bool freeze() noexcept;
  /// Whether every thread of the process stands still, or has ended. One read of /proc for a process of one
  /// thread.
  bool frozen() const noexcept;
  /// How many threads the process has, those that are ending included; 0 if it has ended.
  int threads() const noexcept;
  /// Sends SIGSTOP and watches until the process is frozen; false if that took longer than `limit`.
  bool freeze_and_confirm(std::chrono::nanoseconds limit = std::chrono::seconds(2)) noexcept;
  /// Sends SIGCONT. False if the process has ended.
  bool thaw() noexcept;
  /// Sends SIGKILL. False if the process has ended.
  bool kill() noexcept;
  /// Whether the process has ended (or is a zombie).
  bool ended() const noexcept;
  /// Waits for that; false if it took longer than `limit`.
  bool await_end(std::chrono::milliseconds limit) const noexcept;

 private:
  pid_t process_ = -1;
  int handle_ = -1;  // pidfd: a reused process id must never be signalled
  int stat_ = -1;    // /proc/PID/task/PID/stat
  int tasks_ = -1;   // /proc/PID/task
};

}  // namespace kevo
