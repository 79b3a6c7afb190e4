#pragma once
// One program under test: worker processes that never see a content twice, and the verdict on every call.

#include <chrono>
#include <cstdint>
#include <functional>
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
#include "fitness/oracle/oracle.hpp"
#include "fitness/oracle/suite_rule.hpp"
#include "fitness/worker/session.hpp"

namespace kevo {

/// What one verified call took.
struct call_time {
  double ns = 0;           ///< what the worker admits (`isolated_call::ns`)
  double whole_ns = 0;     ///< all that it can have worked on it: `isolated_call::whole_ns`
  bool disturbed = false;  ///< `isolated_call::disturbed`
  bool late = false;       ///< `isolated_call::late`
  bool accounted = false;  ///< `isolated_call::accounted`
  double beside_ns = 0;    ///< `isolated_call::beside_ns`
  double prepared_ns = 0;  ///< `isolated_call::prepared_ns`
  std::optional<call_failure> failure;
};

/// Where the time of a runner went. [s]
struct runner_times {
  double start_s = 0;    ///< starting processes and loading the object into them
  double calls_s = 0;    ///< within calls
  double around_s = 0;   ///< preparing calls and ending them: inputs, outputs, putting the worker to sleep
  double compare_s = 0;  ///< comparing outputs with the expected ones

  runner_times& operator+=(const runner_times& other);
  runner_times& operator-=(const runner_times& other);
};

/// What the calls of a process had to wait for from files. Loading is not in it.
struct file_waits {
  long major_faults = 0;
  double read_bytes = 0;
};

/// What a candidate may take besides its ordinary calls: processors are held meanwhile.
struct setup_limits {
  double loads_s = 0;        ///< [s] loading, constructors included, in all processes together; 0: any
  double first_call_s = 0;   ///< [s] the first call of a workload in a process (it may tune itself), where
                             ///< that is more than any call may take
  double first_calls_s = 0;  ///< [s] what all first calls together may take beyond that
};

/// Contents of one workload: those of `oracle::mixed` or `oracle::varied`.
using content_list = std::vector<std::shared_ptr<const content>>;

/// Runs a built program. Starts a fresh process when it is given a content that the old one has seen. One
/// thread at a time.
class runner {
 public:
  /// @param verify false for a trusted program whose outputs nobody reads, and which may see a content again
  runner(std::shared_ptr<const task> t, worker_settings worker, std::string object, rng random,
         bool verify = true);

  /// From now on arenas are taken from `pool`, which other runners may share.
  void share(std::shared_ptr<arena_pool> pool) { pool_ = std::move(pool); }
  /// Bounds what is spent on setting up; without, each load and each call has its own limit alone.
  void limit_setup(setup_limits limits) { setup_ = limits; }

  /// From now on calls are of this workload. Keeps the process.
  void select(std::size_t workload);

  /// A call of this content, which the process must not have seen. Its buffers lie at places drawn from
  /// `places`, if any.
  call_time isolated(const std::shared_ptr<const content>& given, std::chrono::nanoseconds limit,
                     const std::optional<rng>& places = std::nullopt);

  /// Delivered calls of the present process begin with a sleep from now on, also short ones.
  /// @throws kevo::error (environment) if no process can be started
  void begin_from_rest();
  /// No call follows soon: a worker that still looks for the next one goes to sleep, so that it does not take
  /// the processor from another.
  void settle();
  /// A call of the present process with inputs that nobody has computed anything for: those of `one`, in
  /// which rows drawn at random are those of `other`. Its results are not judged. The process has seen both.
  call_time unjudged(const content& one, const content& other, std::chrono::nanoseconds limit);
  /// Of the present process, if there is one.
  std::optional<process_usage> usage() const { return session_ ? session_->usage() : std::nullopt; }
  /// Of the memory that the present process shares with the controller.
  std::size_t arena_bytes() const { return arena_bytes_; }
  double writable_bytes() const { return session_ ? session_->writable_bytes() : 0; }
  /// Of the process whose calls waited most.
  file_waits waits();
  /// Whether the times of the present workload's calls include the delivery of their inputs. Does not depend
  /// on the program. @throws kevo::error (environment) if no process can be started
  bool delivered();

  /// Ends the process; the next call starts a fresh one, which can serve every workload.
  void restart();
  /// Ends the process and its parent: the next one is set up from nothing.
  void renew();
  /// From now on each `restart_for_pair` takes the next of these objects, which are the program at other
  /// places, in turn; of none, the program's own. Ends the process.
  void place_at(std::vector<std::string> objects);
  const std::vector<std::string>& placements() const { return placed_; }
  /// The next `restart_for_pair` takes this one, and those after it the following ones; modulo their number.
  void place_next(std::size_t placement) { placement_ = placement; }
  /// Ends the process before a pair of readings. Its parent ends, too, where the kernel draws the addresses
  /// of each parent: they change times by some nanoseconds, which must not be the same in all pairs.
  void restart_for_pair();
  /// Ends the process and begins to start a fresh one, with memory for the selected workload alone, so that
  /// it starts sooner. `await` must follow before anything is timed, and says whether it could be loaded.
  void launch_for_one();
  std::optional<call_failure> await();
  const std::string& object() const { return object_; }
  /// Whether the process has had a call.
  bool warm() const { return session_ && !called_.empty(); }
  /// From now on the first calls of visible workloads are compared by the rule of KernelBench, too: with
  /// `theirs`, for contents that it has; if it is empty, with what the oracle expects.
  void compare_by_suite_rule(const suite_results& theirs) {
    compares_by_suite_ = true;
    theirs_ = &theirs;
  }
  /// Whether from now on the results of such calls are kept: this program is the reference in the types of
  /// the task.
  void keep_results(bool keeps) { keeps_results_ = keeps; }
  const suite_results& kept_results() const { return kept_; }
  const suite_verdict& by_suite() const { return by_suite_; }
  /// What the latest process that was loaded said then: untrusted text.
  const std::string& remark() const { return remark_; }
  /// Since it was made.
  const runner_times& times() const { return times_; }
  /// What starting a process took at least, loading included; 0 if none was started. [ns]
  double start_ns() const { return 1e9 * start_s_; }
  /// The same of the latest process.
  double latest_start_ns() const { return 1e9 * latest_start_s_; }

 private:
  std::optional<call_failure> begin_process();
  void end_process();
  void launch();
  std::chrono::nanoseconds first_limit(std::chrono::nanoseconds limit) const;
  void need_process();
  std::optional<call_failure> failure_of(call_end end) const;
  std::optional<call_failure> verify(const slot_layout& layout, const std::shared_ptr<const content>& given);
  void compare_by_suite(const slot_layout& layout, const std::shared_ptr<const content>& given);
  bool saw(const std::shared_ptr<const content>& c) const;

  std::shared_ptr<const task> task_;
  worker_settings worker_;
  std::string object_;
  std::string object_in_use_;        // of the present process: it, or one of the following
  std::vector<std::string> placed_;  // see place_at
  std::size_t placement_ = 0;        // of the next process, among these
  rng random_;
  bool verify_;
  std::size_t workload_ = 0;
  std::vector<buffer_shape> buffers_;
  std::shared_ptr<arena_pool> pool_;
  std::shared_ptr<worker_parent> parent_;  // of this program's processes, one after the other
  std::unique_ptr<worker_session> session_;
  std::vector<std::shared_ptr<const content>> seen_;  // by this process
  setup_limits setup_;
  std::set<std::size_t> called_;  // workloads that this process has had a call of
  double loads_s_ = 0;            // spent so far, of all processes
  double first_calls_s_ = 0;
  runner_times times_;
  double start_s_ = 0;  // the shortest
  double latest_start_s_ = 0;
  std::optional<process_usage> loaded_;  // of the present process, when it had been loaded
  file_waits waits_;
  std::size_t arena_bytes_ = 0;
  suite_verdict by_suite_;
  bool compares_by_suite_ = false;
  const suite_results* theirs_ = nullptr;
  bool keeps_results_ = false;
  suite_results kept_;
  std::string remark_;
  bool for_one_ = false;  // the process, or the next one, serves the selected workload alone
  bool loading_ = false;  // launched, and not awaited
  std::chrono::steady_clock::time_point launched_;
};

}  // namespace kevo
