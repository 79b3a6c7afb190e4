#pragma once
// What all evaluations of one task share: builds, the oracle, the baselines, the ceilings and the processors.

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <kevo/evaluate/statistics.hpp>
#include <kevo/task.hpp>

#include "fitness/cascade/bounds.hpp"
#include "fitness/cpu/cpu_settings.hpp"
#include "fitness/cpu/paired.hpp"
#include "fitness/cpu/program_kind.hpp"
#include "fitness/cpu/runner.hpp"
#include "fitness/machine/ceilings.hpp"
#include "fitness/machine/core_plan.hpp"
#include "fitness/machine/cores.hpp"
#include "fitness/machine/fifo_lock.hpp"
#include "fitness/machine/memory_watch.hpp"
#include "fitness/oracle/oracle.hpp"

namespace kevo {

/// A trusted program that candidates are compared with.
struct trusted_program {
  std::string name;
  std::unique_ptr<runner> program;
  std::vector<double> call_ns;  ///< of one call of each workload; 0 for hidden ones
  std::string object;           ///< path of what was built
};

/// Exclusive use of the processors: the turn among the threads that share a bench, then the lock among
/// processes, the controller's thread bound, builds at rest where they would disturb. As one thread of a
/// bench at most asks for the lock, a wait for it is a wait for others.
class processors_in_use {
 public:
  processors_in_use(const core_plan& cores, running_builds& running, fifo_lock& among_threads,
                    const std::stop_token& stop, const wait_listener& listener)
      : hold_(among_threads.take(stop)), lock_(cores.workers, stop, listener), pin_(cores.controller) {
    if (!cores.few) return;
    pause_ =
        cores.shared || cores.controller < 0 ? running.pause_all() : running.stand_back(cores.controller);
  }
  const measuring_lock& lock() const { return lock_; }

 private:
  fifo_lock::hold hold_;
  measuring_lock lock_;
  pinned_thread pin_;
  running_builds::pause_guard pause_;
};

/// The bench of one task. `prepare` must have returned before anything below it is called; runners only while
/// `take_processors` is held.
class test_bench {
 public:
  /// For programs in C++. @throws kevo::error (input, environment)
  test_bench(std::shared_ptr<const task> t, cpu_settings settings);
  /// For programs of another kind; `kind` is for this task.
  test_bench(std::shared_ptr<const task> t, cpu_settings settings, std::shared_ptr<const program_kind> kind);

  /// For a bench that times nothing: it does not wait for other measurements, keeps no processors to itself,
  /// and its workers run on any. Call it before `prepare`.
  void leave_untimed();

  /// Builds and checks the reference and the baselines; once. Returns for how long it waited for other
  /// processes [s]. @throws kevo::error
  double prepare(std::stop_token stop, const wait_listener& listener = {});

  const kevo::task& subject() const { return *task_; }
  const cpu_settings& settings() const { return settings_; }
  oracle& secrets() { return *oracle_; }
  const program_kind& kind() const { return *kind_; }
  running_builds& running() { return running_; }
  const core_plan& cores() const { return cores_; }
  build_result build_candidate(const program& candidate, std::stop_token stop);
  std::unique_ptr<processors_in_use> take_processors(const std::stop_token& stop,
                                                     const wait_listener& listener = {});
  /// Whether `add_contents` would make any.
  bool lacks_contents() const;
  /// Now and then makes further contents for timed calls, for about 0.15 s, until there are as many as the
  /// settings allow. Only while `take_processors` is held. @throws kevo::error
  void add_contents(const std::stop_token& stop);
  /// @param otherwise in the other way of its kind: `program_kind::otherwise`, which must be there
  runner run_candidate(const std::string& object, std::stop_token stop, bool otherwise = false) const;

  trusted_program& first_baseline() { return baseline_; }
  /// Before a pair of a confirmation: the candidate and a baseline have their code at places of its own
  /// in it. @param pair number of the pair @param processes of the candidate in it
  /// @return how many places there are; 0 where programs of this kind have none
  std::size_t place_for_pair(runner& candidate, const program& source, trusted_program& against,
                             std::size_t pair, std::size_t processes, const std::stop_token& stop);
  /// Whether a candidate was built to the same bytes as the first baseline.
  bool is_baseline(const build_result& built) const {
    return kind_->same(built.object_path, baseline_.object);
  }
  std::vector<trusted_program>& other_baselines() { return others_; }
  /// What is timed from now on lies in other memory than what was timed before.
  void renew_memory();
  /// Of all trusted programs together, so far.
  runner_times trusted_times() const;
  /// A timer of the candidate against the baseline, or against another one. @param brief pairs are as short
  /// as can be @param candidate_ns of one call;
  /// 0: unknown
  paired_timer plan_for(std::size_t workload, double candidate_ns, runner& candidate, bool brief = false,
                        const std::stop_token& stop = {});
  paired_timer plan_for(std::size_t workload, double candidate_ns, runner& candidate, trusted_program& other,
                        bool brief = false, const std::stop_token& stop = {});
  /// The fastest other baseline, where a call of the first one takes so long that few pairs fit into the time
  /// of an evaluation, and the candidate is much faster than the first one, too; nullptr otherwise. Such
  /// candidates are compared with it until they are confirmed. @param candidate_ns of one call; 0: however
  /// slow it is
  trusted_program* comparator_for(std::size_t workload, double candidate_ns);
  /// What one call of the first baseline takes at least, boundary included; roughly. [ns]
  double baseline_call_ns(std::size_t workload) const { return baseline_.call_ns[workload]; }
  /// The speedup of that program over the first baseline. Times some pairs of both at first, and a pair now
  /// and then, since the machine changes. @throws kevo::error (environment, interrupted)
  estimate comparator_speedup(std::size_t workload, double alpha, const std::stop_token& stop);
  /// Where several runs measure side by side, each on cores of its own: waits a moment while another one
  /// keeps the memory busy. Before a pair begins, when its processes are not there yet.
  void await_quiet_memory() {
    if (memory_) memory_->await_quiet();
  }
  /// What became of these waits since the latest call of this; empty if nothing disturbed.
  std::string memory_disturbance();
  /// One call of the first baseline: nothing, or what is wrong with the machine.
  std::optional<call_failure> canary();

  std::chrono::nanoseconds call_limit(std::size_t workload) const;
  std::size_t smallest_visible() const { return smallest_; }
  /// Contents of a workload in the correctness stage of an evaluation; the first is plain. Those of a visible
  /// one are of the mixture that is timed. Only while `take_processors` is held. @param object the
  /// candidate's
  content_list contents_to_check(std::size_t workload, const std::string& object,
                                 const std::stop_token& stop);
  double speed_of_light_ns(std::size_t workload) const;  ///< 0 if unknown
  double minimum_ns(std::size_t workload) const;         ///< no honest call is faster; 0 if unknown
  /// What a program can spare of a delivered call without doing less: some of what beginning and ending one
  /// takes, as far as kevo can tell. 0 where programs cannot serve their calls themselves. [ns]
  double signals_ns() const { return signals_ns_; }
  double working_set_bytes() const;
  std::map<std::string, double> measures_of(const build_result& built);

  /// An evaluation that says what is known before anything was run.
  evaluation blank() const;
  /// All that a result depends on besides the program.
  std::string identity() const { return identity_; }
  std::string describe() const;

 private:
  worker_settings worker_for(const std::string& object, std::optional<trusted_role> role) const;
  void check_trusted(trusted_program& trusted, const std::stop_token& stop);
  void make_oracle(const std::string& reference);
  double time_signals();
  void add_contents(double seconds, const std::stop_token& stop);
  content_list unused_contents(std::size_t workload, const std::string& object, std::size_t count,
                               const std::stop_token& stop);
  std::size_t contents_of_process(std::size_t workload) const;
  bool is_trusted(const std::string& object) const;
  time_bound bound_of(std::size_t workload, double flops, double flop_rate, double byte_rate) const;
  time_bound roofline_of(std::size_t workload) const;
  void describe_machine();

  std::shared_ptr<const task> task_;
  cpu_settings settings_;
  std::shared_ptr<const claimed_cores> claim_;
  core_plan cores_;
  std::optional<memory_watch> memory_;  // where runs share the machine by core
  std::string device_;
  running_builds running_;
  fifo_lock measuring_;
  std::shared_ptr<const program_kind> kind_;
  std::mutex preparing_;
  bool prepared_ = false;
  std::string identity_;
  std::size_t smallest_ = 0;
  kevo::ceilings ceilings_;
  std::map<std::string, std::string> machine_;  // what every evaluation says of it
  std::unique_ptr<oracle> oracle_;
  std::shared_ptr<arena_pool> arenas_;  // of all runners; null: each process has a new one
  trusted_program baseline_;
  std::vector<trusted_program> others_;
  struct comparator_pairs {
    std::vector<timing_pair> pairs;  // of the comparator and the first baseline, the latest ones
    int uses = 0;
  };
  std::map<std::size_t, comparator_pairs> comparators_;  // by workload
  std::unique_ptr<runner> pacer_;                        // does nothing for a while: see call_boundary
  double signals_ns_ = 0;
  std::string left_out_;                // optional baselines that do not build here
  std::vector<bool> rejects_borrowed_;  // contents of other workloads' generators do not suit this one
  std::vector<content_list> mixed_;     // of the visible workloads
  std::size_t evaluations_ = 0;         // that found contents missing
  // Where the kind of programs has `contents_once`: how many contents of each workload the processes of a
  // candidate have been given, of all its evaluations together; and what was made beyond those that are kept.
  struct used_contents {
    std::vector<std::size_t> mixed;
    std::vector<std::size_t> varied;
  };
  std::map<std::string, used_contents> used_;
  struct spare_contents {
    std::string object;
    std::vector<content_list> unused;  // by workload
  };
  spare_contents spare_;
  std::vector<double> making_s_;  // of one content of each workload [s]
};

}  // namespace kevo
