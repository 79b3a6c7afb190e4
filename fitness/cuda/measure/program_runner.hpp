#pragma once
// One program on the device: worker processes that never see a content twice, and the verdict on every call.

#include <chrono>
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
#include "fitness/cuda/measure/worker_source.hpp"

namespace kevo::cuda {

/// What one verified measurement took.
struct gpu_time {
  double event_ns = 0;                  ///< of all its calls, by the worker's events
  double outside_ns = 0;                ///< of all its calls, by the trusted clock
  double calls_ns = 0;                  ///< of an interval: the calls without what lies between them
  std::vector<double> each_outside_ns;  ///< of admitted calls, one by one
  std::vector<double> each_event_ns;
  std::vector<double> each_call_ns;  ///< of calls that are not held: from request to "done"
  double fence_ns =
      0;  ///< until all work on the device had ended, after the last "done"; see device/protocol.hpp
  double clock_mhz = 0;        ///< of a multiprocessor, right after
  double begin_clock_mhz = 0;  ///< the same right before; 0: not measured
  int calls = 1;
  bool unblocked = false;
  bool preempted = false;          ///< the trusted clock was late, for its thread had lost its processor
  std::string fingerprint;         ///< of the outputs' bits, where it was asked for
  std::string remark;              ///< what a hosted program's process said of itself; untrusted
  std::int64_t suite_misses = -1;  ///< `call_result::suite_misses`
  std::optional<call_failure> failure;
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

/// How the calls of an interval of a program with host code are made.
enum class call_mode {
  usual,    ///< programs in Python: held, so that their time is that of the device
  nothing,  ///< as `usual`, but the program is not called: what every held call takes around it
  busy,     ///< the same, and the device is busy until a call begins (call_wanted::busy_until_begin)
  early,    ///< as `busy`, and a process of kevo's own code begins some work before. Of baselines alone
  host,     ///< not held: from before the call to its synchronized result
  idle,     ///< as `host`, but the program is not called: what every call takes around it. Of baselines alone
};

/// A program, ready to be loaded and called.
struct program_image {
  program_kind kind = program_kind::declared;
  compiled_module code;  ///< declared
  std::string object;    ///< hosted
  std::string nothing;   ///< of programs in Python: what a process is told before it has a program
  /// Of programs in Python: kernels may run beside each other, so that their processes have several queues to
  /// the device.
  bool concurrent = false;
  std::vector<plan> plans;  ///< of each workload
};

/// Runs a compiled program by its plans. One thread at a time.
class program_runner {
 public:
  program_runner(std::shared_ptr<const task> t, worker_source& workers, program_image image,
                 std::vector<content_counts> contents, rng random, trust whose = trust::none);
  program_runner(program_runner&&) = default;
  program_runner& operator=(program_runner&&) = default;

  /// A call of a varied content (correctness); the process must not have seen it.
  /// @param quiet if a process is started for it, no other starts beside it
  gpu_time check(std::size_t workload, std::uint32_t varied, std::chrono::nanoseconds limit,
                 bool quiet = false);
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
                       std::chrono::nanoseconds limit, std::uint32_t untimed = 0,
                       call_mode mode = call_mode::usual);
  /// An interval of calls of nothing, all with one content. The process of a candidate makes them before the
  /// candidate is loaded, so that they are those of kevo's own code; none may run.
  gpu_time nothing_of(std::size_t workload, std::uint32_t content, std::uint32_t calls, bool cold,
                      std::chrono::nanoseconds limit, std::uint32_t untimed);
  /// Before each further call the clock frequency of a multiprocessor is measured for so long; 0: it is not.
  void measure_clock_before(std::chrono::nanoseconds time) {
    frequency_ns_ = static_cast<std::uint64_t>(time.count());
  }
  program_kind kind() const { return image_.kind; }
  bool concurrent() const { return image_.concurrent; }
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
  std::optional<call_failure> start(bool timing = false);
  std::vector<std::uint32_t> choices(std::size_t workload, content_use use) const;
  gpu_time call(std::size_t workload, std::vector<std::uint32_t> contents, bool cold,
                std::chrono::nanoseconds limit, bool fingerprint = false, bool interval = false,
                std::uint32_t untimed = 0, call_mode mode = call_mode::usual);
  gpu_time timed_of(std::size_t workload, std::vector<std::uint32_t> contents, bool cold,
                    std::chrono::nanoseconds limit, bool interval, std::uint32_t untimed,
                    call_mode mode = call_mode::usual);
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
  bool begun_ = false;              // a process runs that has no program yet
  std::uint64_t frequency_ns_ = 0;  // call_wanted::frequency_ns
  std::set<std::pair<std::size_t, std::uint32_t>> seen_;
};

}  // namespace kevo::cuda
