#pragma once
// The controller's side of a sandboxed process of kevo's own that forks the worker processes of one object. A
// sandbox is set up once for all of them, and each of them is a process of its own.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "fitness/process/process.hpp"
#include "fitness/worker/call_chain.hpp"
#include "fitness/worker/own_results.hpp"
#include "fitness/worker/protocol.hpp"
#include "src/base/process/descriptor.hpp"

namespace kevo {

struct worker_settings;
class worker_process;

/// Starts a process that serves the pages of these two descriptors (protocol.hpp).
/// @param settings what the process is to be bound by: processors, threads, memory
/// @throws kevo::error (environment)
using worker_start = std::function<worker_process(const worker_settings& settings, int control, int arena)>;

/// How a worker is started.
struct worker_settings {
  /// Starts workers other than kevo-worker-cpu; neither a parent nor the object is used then.
  worker_start start;
  std::string program;  ///< path of kevo-worker-cpu; empty: found (own_program.hpp)
  /// Further libraries it may load, by file name: runtimes of threads, and whatever a trusted object needs.
  std::vector<std::string> libraries;
  sandbox_mode sandbox = sandbox_mode::required;
  /// Of each process. Without `wall_s`: every wait for a worker has a limit of its own.
  process_limits limits;
  int threads = 1;
  std::vector<int> cpus;  ///< processors of the worker; empty: any
  bool yield = false;     ///< the controller shares the worker's processor: give way while waiting
  bool patient = false;   ///< nothing is timed: sleep while waiting
  /// Outputs that workers return in memory of their own; otherwise they write them to the arena.
  std::optional<own_results> results;
  /// Whether workers make what a call needs when they are asked whether they are awake (protocol.hpp).
  bool prepares = false;
  /// Where workers of one thread wait for calls, if kevo's own code in them serves these; else null.
  std::shared_ptr<known_chain> chain;
  bool teaches_chain = false;  ///< the worker is trusted: `chain` learns from it
  bool error_output = false;   ///< the object may write to standard error: trusted objects only
  double load_limit_s = 10;
  std::stop_token stop;
};

/// Forks worker processes, one at a time. It has never loaded the object, and is given nothing but the
/// descriptors that it hands to its next child: all that a child could find in its copy of this memory is
/// kevo's own program. One thread at a time.
class worker_parent {
 public:
  /// Starts it. @throws kevo::error (environment)
  worker_parent(const worker_settings& settings, const std::string& object);

  /// Whether it can fork another worker. Outside of a sandbox the limit on processes is that of a moment, so
  /// that a parent has one child there.
  bool usable() const { return !process_.try_wait() && (began_ == 0 || process_.contained()); }

  /// Asks for a worker with this control page and arena. The one before must have been ended.
  void begin(int control, int arena);
  /// Ends the worker and returns when it is gone.
  void end();

  /// Whether the worker has said that it began; from then on its process id is known.
  bool begun();
  pid_t pid() const { return worker_->pid(); }
  freezer worker_freezer() const { return freezer(worker_->pid()); }
  /// The report if it has ended. What stands on standard error may be of an earlier worker of the same
  /// object.
  std::optional<exit_report> try_wait();
  void kill();
  /// Waits for the end.
  exit_report wait();

 private:
  struct heard {
    parent_message message;
    pid_t sender;
  };
  std::optional<heard> receive(std::chrono::milliseconds limit);
  void listen(std::chrono::milliseconds limit);
  void conclude();

  detail::descriptor socket_;
  child_process process_;
  std::uint32_t began_ = 0;                // workers so far
  std::optional<freezer> worker_;          // since it has begun
  std::optional<parent_message> verdict_;  // how it ended, in the words of its parent
  std::optional<exit_report> report_;
  bool killed_ = false;
};

/// A worker of a parent, which may have others later. Move-only; the destructor ends the worker.
class forked_worker {
 public:
  forked_worker() = default;
  forked_worker(std::shared_ptr<worker_parent> parent, int control, int arena) : parent_(std::move(parent)) {
    parent_->begin(control, arena);
  }
  forked_worker(forked_worker&&) noexcept = default;
  forked_worker& operator=(forked_worker&& other) noexcept {
    std::swap(parent_, other.parent_);
    return *this;
  }
  forked_worker(const forked_worker&) = delete;
  forked_worker& operator=(const forked_worker&) = delete;
  ~forked_worker() {
    if (parent_) parent_->end();
  }
  worker_parent* operator->() const { return parent_.get(); }

 private:
  std::shared_ptr<worker_parent> parent_;
};

}  // namespace kevo
