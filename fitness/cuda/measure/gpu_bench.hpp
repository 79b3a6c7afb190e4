#pragma once
// What all evaluations of one task share on a device: kevo-device, the compiler, the oracle's contents, the
// baselines, the ceilings.

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <kevo/task.hpp>

#include "fitness/cascade/bounds.hpp"
#include "fitness/cuda/compile/cuda_compiler.hpp"
#include "fitness/cuda/device/client.hpp"
#include "fitness/cuda/hosted/hosted_compiler.hpp"
#include "fitness/cuda/launch/resolve.hpp"
#include "fitness/cuda/measure/pair_timer.hpp"
#include "fitness/cuda/measure/program_runner.hpp"
#include "fitness/cuda/python/python_programs.hpp"
#include "fitness/cuda/settings/cuda_settings.hpp"
#include "fitness/cuda/tools/gates.hpp"
#include "fitness/machine/cores.hpp"

namespace kevo::cuda {

/// A candidate that can be launched, or why it cannot.
struct built_program {
  bool ok = false;
  program_kind kind = program_kind::declared;
  compiled_module code;                        ///< declared
  hosted_object object;                        ///< hosted
  std::map<std::string, double> measures;      ///< of a program in Python
  bool concurrent = false;                     ///< the same: it may run kernels beside each other
  std::map<std::string, std::string> context;  ///< who compiled it, and what its build lines chose
  std::vector<plan> plans;                     ///< of each workload
  kevo::outcome outcome = kevo::outcome::build_failed;
  std::vector<std::string> reasons;
  std::string feedback;
};

/// Candidates with more workspace memory than this for one call have workers of their own, with a larger
/// arena.
inline constexpr std::uint64_t usual_workspace_bytes = 64U << 20U;

/// Compilers that the benches of several devices share. Thread-safe.
struct shared_compilers {
  std::mutex making;
  std::shared_ptr<cuda_compiler> device_code;  ///< null until the first bench needs it
  std::shared_ptr<hosted_compiler> hosted;     ///< the same
};

/// A program and the processes that run it.
struct program_and_workers {
  std::unique_ptr<worker_source> workers;
  std::unique_ptr<program_runner> runner;
};

/// A trusted program that candidates are compared with.
struct gpu_baseline {
  std::string name;
  program_and_workers usual;
  program_and_workers concurrent = {};  ///< in processes with several queues; null until a candidate has them
  built_program built = {};
  std::vector<double> call_ns = {};  ///< of one call of each workload
};

/// The bench of one task. `prepare` must have returned before anything below it is called; runners only while
/// the device is held.
class gpu_bench {
 public:
  /// @throws kevo::error (input, environment)
  gpu_bench(std::shared_ptr<const task> t, cuda_settings settings);
  ~gpu_bench();

  /// Starts the device, compiles and checks reference and baselines; once. Returns for how long it waited for
  /// other kevo processes [s]. @throws kevo::error
  double prepare(std::stop_token stop, const wait_listener& listener = {});

  const task& subject() const { return *task_; }
  const cuda_settings& settings() const { return settings_; }
  /// Compiles a candidate and works out its plans. Thread-safe. @param trusted globals and libraries are
  /// allowed @param link libraries of a trusted hosted program
  built_program build(const program& source, bool trusted, std::stop_token stop,
                      const std::vector<std::string>& link = {});

  /// The device for this thread alone, among all processes.
  class hold {
   public:
    /// Waits for whoever has it, or until `stop`. @throws kevo::error (interrupted; environment, also if a
    /// foreign process stays on it)
    explicit hold(gpu_bench& bench, const std::stop_token& stop = {}, const wait_listener& listener = {});
    ~hold();
    hold(const hold&) = delete;
    hold& operator=(const hold&) = delete;

    const device_time_spent& spent() const { return bench_->spent_; }
    double seconds() const;  ///< since it is held
    const measuring_lock& lock() const { return *lock_; }
    /// Who else was on the device when it was taken, in words.
    const std::string& foreign() const { return foreign_; }

   private:
    void give_back() noexcept;

    gpu_bench* bench_;
    std::optional<measuring_lock> lock_;
    std::string foreign_;
    std::chrono::steady_clock::time_point start_;
  };

  program_runner run_candidate(const built_program& built);
  /// The same for a program of PyTorch whose process also says what its kernels take (own_kernels.hpp).
  program_runner run_watched(const built_program& built, const program& source);
  bool runs_python() const { return python_ != nullptr; }
  /// Waits until no process for candidates of any kind starts or ends: one that does disturbs what is timed.
  void settle_candidates();
  /// A timer of one workload: by intervals if the candidate is hosted, by events otherwise.
  pair_timer timer(program_runner& candidate, gpu_baseline& against, std::size_t workload,
                   double candidate_ns);
  /// A baseline whose processes have as many queues to the device as those of the candidate: what lies around
  /// a call depends on their number (2 us of a softmax of 58 us on an H200).
  program_runner& beside(const program_runner& candidate, gpu_baseline& baseline);
  gpu_baseline& baseline() { return baselines_.front(); }
  std::vector<gpu_baseline>& baselines() { return baselines_; }
  /// Starts the baselines that only a confirmation needs, once; the device must be held. Optional ones that
  /// torch.compile makes: it takes longer than an evaluation. @throws kevo::error (interrupted)
  void prepare_later_baselines();
  /// Which optional baselines do not build or run here, and why; empty: none.
  std::string left_out() const;
  /// One call of the first baseline: nothing, or what is wrong with the machine.
  std::optional<call_failure> canary();
  /// While it lives, no process for candidates starts before it is needed, so that they have more memory.
  class sparing {
   public:
    explicit sparing(gpu_bench& bench) : bench_(&bench) { bench_->start_none_ahead(true); }
    ~sparing() { bench_->start_none_ahead(false); }
    sparing(const sparing&) = delete;
    sparing& operator=(const sparing&) = delete;

   private:
    gpu_bench* bench_;
  };
  /// For a candidate without memory (device_room.hpp): a baseline that is run like a candidate must have room
  /// on that workload. @throws kevo::error (environment) if it has none, because then no candidate has
  void require_room(std::size_t workload);

  /// The checkers that the config asks for, on the workload with the least data; nothing if all pass.
  std::optional<call_failure> check_gates(const built_program& built, const std::stop_token& stop);
  /// "memcheck, racecheck"; empty if none is asked for.
  std::string checkers() const { return gates_->checkers(); }
  /// What Nsight Compute says of one call, in words and as measures, or else the driver; empty unless the
  /// config asks for a profile.
  struct call_profile {
    std::string text;
    std::map<std::string, double> measures;
  };
  call_profile profile_call(const built_program& built, const std::stop_token& stop);

  const std::vector<content_counts>& contents() const { return contents_; }
  /// How long one call may take: some multiple of the baseline's, at most `limits.call_s`.
  std::chrono::nanoseconds call_limit(std::size_t workload) const;
  /// How long the first call of a size in a process may take. Host code makes its plans then, or tries
  /// settings: it may have all of `limits.call_s`. Device code alone has nothing to prepare.
  std::chrono::nanoseconds first_call_limit(std::size_t workload, program_kind kind) const;
  std::size_t smallest_visible() const { return smallest_; }
  std::size_t largest_visible() const { return largest_; }
  /// Contents of each visible workload in the correctness stage: at least 5 in all.
  std::uint32_t contents_to_check() const;
  double speed_of_light_ns(std::size_t workload) const;  ///< 0 if unknown
  /// No honest call of a program of that kind is faster. 0 if unknown
  double minimum_ns(std::size_t workload, program_kind kind) const;

  /// What the compiler, the plan and the clock say of a candidate, in words: resources and launches of its
  /// kernels, and the rates that it reached. Nothing of hidden workloads.
  std::string profile(const built_program& built, const evaluation& e) const;
  /// Descriptors of a candidate for archives.
  std::map<std::string, double> measures(const built_program& built) const;

  /// An evaluation that says what is known before anything was run.
  evaluation blank() const;
  /// All that a result depends on besides the program.
  std::string identity(const program& source) const { return identity_ + compiler_->identity_for(source); }
  std::string describe() const;

 private:
  friend class hold;
  using baseline_to_add = std::pair<const kevo::baseline*, built_program>;
  // Of `prepare`, in gpu_bench_prepare.cpp and gpu_bench_contents.cpp:
  void forget_attempt();
  void find_compilers();
  std::vector<baseline_to_add> build_baselines(std::stop_token stop);
  std::string identity_of_bench() const;
  device_task describe_reference(std::stop_token stop);
  device_task describe_python_reference() const;
  void make_contents(const std::vector<device_workload>& workloads, const std::stop_token& stop);
  contents_made make_slowly(contents_wanted wanted, const std::stop_token& stop);
  contents_made make_given_contents(const contents_wanted& wanted, std::uint64_t content_bytes,
                                    double seconds, const std::stop_token& stop);
  void start_reference(const std::vector<device_workload>& workloads);
  void end_reference();
  std::uint64_t arena_for(std::size_t arenas, const std::vector<baseline_to_add>& built) const;
  std::uint64_t arena_of_inputs() const;
  std::uint64_t usual_arena() const;
  void add_baseline(const kevo::baseline& b, const built_program& program);
  program_and_workers make_baseline(const built_program& program, bool concurrent);
  void leave_out(const std::string& name, const std::string& why);
  void check_baseline(gpu_baseline& baseline);
  // Of gpu_bench_minimum_times.cpp:
  time_bound roofline_of(std::size_t workload) const;
  void describe_machine();
  // Of `build`, in gpu_bench_build.cpp:
  built_program build_python(const kevo::program& source, bool trusted, bool compile,
                             const std::stop_token& stop);
  built_program baseline_as_candidate();
  void start_none_ahead(bool wanted);
  built_program build_hosted(const program& source, bool trusted, std::stop_token stop,
                             const std::vector<std::string>& link);

  // Workers on an arena of their own, `ahead` of them started at once; their time is the hold's.
  std::unique_ptr<worker_source> workers_for(worker_options options, std::size_t ahead,
                                             std::uint64_t arena_bytes);
  worker_source& hosted_workers(bool concurrent);
  program_image image_of(const built_program& built) const;
  program_runner& empty();
  std::uint32_t room_of_interval(const program_runner& candidate, const gpu_baseline& against,
                                 std::size_t workload) const;
  std::size_t profiled_workload() const;

  std::shared_ptr<const task> task_;
  cuda_settings settings_;
  std::mutex preparing_;
  std::mutex holding_;
  std::condition_variable_any freed_;
  bool held_ = false;        // by a thread of this process
  device_time_spent spent_;  // of the hold at hand
  bool prepared_ = false;
  std::size_t smallest_ = 0;
  std::size_t largest_ = 0;
  std::shared_ptr<cuda_compiler> compiler_;
  std::unique_ptr<device_gates> gates_;
  std::unique_ptr<device_client> device_;
  device_facts facts_;
  device_ceilings ceilings_;
  std::map<std::string, std::string> machine_;  // what every evaluation says of it
  std::vector<content_counts> contents_;
  std::shared_ptr<hosted_compiler> hosted_;
  std::unique_ptr<python_programs> python_;  // where the programs of the task are in Python
  std::unique_ptr<worker_source> reference_workers_;
  std::string remark_;                 // of the reference, on how it computes
  std::uint64_t arena_ = 0;            // what the calls of an interval need, with all their buffers [bytes]
  std::uint64_t arena_of_worker_ = 0;  // of each worker, but for `candidate_workers_` [bytes]
  std::unique_ptr<worker_source> candidate_workers_;
  std::unique_ptr<worker_source>
      wide_workers_;  // of candidates with large workspaces; null until there is one
  std::unique_ptr<worker_source> hosted_workers_;  // of hosted candidates; null until there is one
  std::unique_ptr<worker_source>
      concurrent_workers_;  // of candidates in Python that want several queues; null until there is one
  std::unique_ptr<worker_source> empty_workers_;
  std::unique_ptr<program_runner> empty_;  // the trusted empty program; null until a timer needs it
  std::vector<gpu_baseline> baselines_;
  bool all_concurrent_ = false;  // a baseline in Python wants several queues, so that all processes have them
  std::vector<baseline_to_add> later_;  // baselines that are not needed yet
  mutable std::mutex naming_;           // of `left_out_`, which evaluations beside a confirmation read
  std::string left_out_;                // optional baselines that do not build or run here, and why
  std::string identity_;
};

}  // namespace kevo::cuda
