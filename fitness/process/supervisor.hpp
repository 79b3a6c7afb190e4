#pragma once
// The one thread that starts processes, reads what they write, keeps their wall limits and reaps them.

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "fitness/process/freezer.hpp"
#include "fitness/process/process.hpp"
#include "src/base/process/descriptor.hpp"
#include "src/base/process/spawn.hpp"

namespace kevo::detail {

/// A process under supervision. `mutex` guards what changes after the start.
struct process_state {
  using clock = std::chrono::steady_clock;

  // Fixed when supervision begins.
  pid_t pid = -1;
  descriptor handle;  // pidfd of `pid`
  std::optional<freezer> inner;
  bool contained = false;
  process_limits limits;
  double cpu_limit_s = 0;
  std::uint64_t parent_rss =
      0;  // resident set of this process at the start, which the child's high-water mark inherits

  // The supervisor's own.
  descriptor out;
  descriptor err;
  descriptor status;  // bubblewrap's JSON
  std::string status_text;
  std::uint64_t id = 0;

  std::mutex pausing;  // held while the tree is being stopped or continued

  std::mutex mutex;
  std::condition_variable changed;
  clock::time_point started;
  clock::duration paused_total{};
  clock::time_point paused_since;
  int pauses = 0;
  std::optional<cpu_set_t> usual_processors;  // while it stands back; guarded by `pausing`
  std::optional<exit_kind> cause;             // why it was killed, if it was
  std::optional<clock::time_point> hard_kill_at;
  bool reaped = false;
  bool done = false;
  exit_report report;

  pid_t root() const { return inner ? inner->pid() : pid; }
};

/// Starts a process on the supervisor's thread. Whatever ends this process ends the new one's process group.
/// @throws kevo::error (environment)
spawned spawn_supervised(spawn_plan plan);

/// Kills the process group of one that was started but is not supervised yet, and waits for its leader.
void abandon(pid_t process);

/// Begins supervision: from now on the wall clock runs and the output is read.
void supervise(const std::shared_ptr<process_state>& state);

/// Kills the tree and notes why, unless it has ended or was killed before.
void kill_supervised(const std::shared_ptr<process_state>& state, exit_kind cause);

/// Lets the supervisor compute its next deadline again (after a pause or a resume).
void wake_supervisor();

}  // namespace kevo::detail
