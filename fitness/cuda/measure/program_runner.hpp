#pragma once
// One program on the device: worker processes that never see a content twice, and the verdict on every call.

#include <chrono>
#include <deque>
#include <future>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <kevo/evaluation.hpp>
#include <kevo/random.hpp>
#include <kevo/task.hpp>

#include "fitness/cascade/cascade.hpp"
#include "fitness/cuda/device/client.hpp"
#include "fitness/cuda/measure/held_time.hpp"
#include "fitness/cuda/worker/process.hpp"

namespace kevo::cuda {

/// What one verified measurement took.
struct gpu_time {
  double event_ns = 0;                  ///< of all its calls, by the worker's events
  double outside_ns = 0;                ///< of all its calls, by the trusted clock
  double calls_ns = 0;                  ///< of an interval: the calls without what lies between them
  std::vector<double> each_outside_ns;  ///< of admitted calls, one by one
  std::vector<double> each_event_ns;
  double fence_ns =
      0;  ///< until all work on the device had ended, after the last "done"; see device/protocol.hpp
  double clock_mhz = 0;
  int calls = 1;
  bool unblocked = false;
  bool preempted = false;          ///< the trusted clock was late, for its thread had lost its processor
  std::string fingerprint;         ///< of the outputs' bits, where it was asked for
  std::string remark;              ///< what a hosted program's process said of itself; untrusted
  std::int64_t suite_misses = -1;  ///< `call_result::suite_misses`
  std::optional<call_failure> failure;
};

/// Workers of one arena, one at a time. The next one waits already: contexts start one after the other
/// however many are asked for, each in some 60 ms, and meanwhile nothing can be timed, but checked.
class worker_source {
 public:
  /// @param ahead how many are started at once; 0: none before it is needed
  worker_source(device_client& device, worker_options options, std::uint64_t arena_bytes, std::size_t ahead);
  worker_source(const worker_source&) = delete;
  worker_source& operator=(const worker_source&) = delete;
  ~worker_source();

  /// Ends the worker in use and takes a fresh one. @throws kevo::error (environment) if none starts
  void fresh();
  /// Ends the worker in use.
  void end();
  /// Starts one more, for a later evaluation: after the timing of this one, so that the checks of this and
  /// the next one go on while its context starts.
  void replace();
  /// Waits until neither those that were started ahead nor the one that ended last make work for the device.
  void settle();
  bool running() const { return current_ != nullptr; }
  std::uint32_t arena() const { return arena_.number; }
  std::uint64_t arena_bytes() const { return arena_.bytes; }
  device_client& device() const { return *device_; }
  /// How the worker in use ended, if it has.
  std::string death() const;
  /// Where the time goes; null: nowhere.
  void account(held_time* to) { spent_ = to; }
  held_time& spent() { return spent_ != nullptr ? *spent_ : unused_; }

 private:
  using worker = std::unique_ptr<worker_process>;
  worker start() const;
  void start_more();
  void gather();
  worker next();

  device_client* device_;
  worker_options options_;
  device_client::opened_arena arena_;
  std::size_t ahead_;
  worker current_;
  std::deque<worker> spare_;
  std::future<std::deque<worker>> coming_;
  std::future<void> leaving_;  // a context takes a while to go
  held_time* spent_ = nullptr;
  held_time unused_;
};

/// How many contents there are of each workload.
struct content_counts {
  std::uint32_t timed = 0;
  std::uint32_t varied = 0;
};

/// Whose program runs. A candidate's process never sees a content twice; a trusted program has no use for
/// what it has seen, and keeps its process.
enum class trust { none, baseline };

/// How a program is run: by graphs of its launch lines, by its own host code, or not at all (the trusted
/// empty program, whose calls take what hand-shake and copies take).
enum class program_kind { declared, hosted, empty };

/// Which contents a timed call may be given.
enum class content_use {
  once,   ///< none that the process has seen
  again,  ///< any: for times that prove nothing about the program, only about the device
};

/// A program, ready to be loaded and called.
struct program_image {
  program_kind kind = program_kind::declared;
  compiled_module code;     ///< declared
  std::string object;       ///< hosted
  std::vector<plan> plans;  ///< of each workload
};

/// Runs a compiled program by its plans. One thread at a time.
class program_runner {
 public:
  program_runner(std::shared_ptr<const task> t, worker_source& workers, program_image image,
                 std::vector<content_counts> contents, rng random, trust whose = trust::none);
  program_runner(program_runner&&) = default;

  /// A call of a varied content (correctness); the process must not have seen it.
  gpu_time check(std::size_t workload, std::uint32_t varied, std::chrono::nanoseconds limit);
  /// `count` calls of distinct contents, which a candidate's process has not seen, as one measurement; a
  /// fresh process where there are none.
  gpu_time time(std::size_t workload, std::uint32_t count, bool cold, std::chrono::nanoseconds limit,
                content_use use = content_use::once);
  /// The same as an interval: one by one, by the trusted clock alone. A hosted candidate is never run
  /// otherwise, and so is the first call of each size of a hosted baseline.
  /// @param untimed so many further calls come first, before the clock runs: what has rested is slow
  gpu_time interval(std::size_t workload, std::uint32_t count, bool cold, std::chrono::nanoseconds limit,
                    content_use use = content_use::once, std::uint32_t untimed = 0);
  /// Distinct contents of a workload, at random, that the process which runs has not seen; where none runs,
  /// any. Fewer than `count` where there are not as many.
  std::vector<std::uint32_t> draw(std::size_t workload, std::uint32_t count);
  /// The same as `time` and `interval`, of these contents. A process must run that has not seen them, or
  /// none: then one is started.
  gpu_time time_of(std::size_t workload, std::vector<std::uint32_t> contents, bool cold,
                   std::chrono::nanoseconds limit);
  /// @param untimed the first calls, before the clock runs; at least one call is timed
  gpu_time interval_of(std::size_t workload, std::vector<std::uint32_t> contents, bool cold,
                       std::chrono::nanoseconds limit, std::uint32_t untimed = 0);
  program_kind kind() const { return image_.kind; }
  bool running() const { return loaded_; }
  /// Whether the process that runs has had a call of that workload.
  bool has_run(std::size_t workload) const;
  /// A call of the content 0 of a workload, in a process that has not seen it, with a fingerprint of the bits
  /// that it gave.
  gpu_time fingerprint(std::size_t workload, std::chrono::nanoseconds limit);
  /// Whether a process runs that can be given so many distinct contents of a workload.
  bool ready_for(std::size_t workload, std::uint32_t calls, content_use use = content_use::once) const;
  /// How many calls of a workload, each with its workspaces, fit into the arena at once; at least 1.
  std::uint32_t room(std::size_t workload) const;
  /// Ends the process; the next call starts a fresh one.
  void restart();
  worker_source& workers() { return *workers_; }

 private:
  std::optional<call_failure> start();
  std::vector<std::uint32_t> choices(std::size_t workload, content_use use) const;
  gpu_time call(std::size_t workload, std::vector<std::uint32_t> contents, bool cold,
                std::chrono::nanoseconds limit, bool fingerprint = false, bool interval = false,
                std::uint32_t untimed = 0);
  gpu_time timed_of(std::size_t workload, std::vector<std::uint32_t> contents, bool cold,
                    std::chrono::nanoseconds limit, bool interval, std::uint32_t untimed);
  gpu_time timed(std::size_t workload, std::uint32_t count, bool cold, std::chrono::nanoseconds limit,
                 content_use use, bool interval, std::uint32_t untimed);
  std::optional<call_failure> failure_of(const worker_answer& answer) const;
  std::optional<call_failure> verdict(std::size_t workload, const call_result& result) const;

  std::shared_ptr<const task> task_;
  worker_source* workers_;
  program_image image_;
  std::vector<content_counts> contents_;
  rng random_;
  trust whose_;
  bool loaded_ = false;
  std::set<std::pair<std::size_t, std::uint32_t>> seen_;
};

}  // namespace kevo::cuda
