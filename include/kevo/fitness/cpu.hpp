#pragma once
// The fitness function of C++ programs on the CPU. A candidate is built and run in a sandbox, its outputs are
// compared with those of the task's reference, and it is timed against a baseline by a clock outside of its
// process. The defaults of all settings suit a laptop.
// Compiled: link kevo::kevo.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <kevo/evaluate.hpp>
#include <kevo/evaluation.hpp>
#include <kevo/fitness/sandbox.hpp>
#include <kevo/fitness/timing.hpp>
#include <kevo/program.hpp>
#include <kevo/task.hpp>

namespace kevo {

/// Limits of a candidate.
struct cpu_limits {
  double build_s = 60;  ///< [s] maximum time of a build
  /// [s] Upper bound of the time limit of a call, which is 20 times the baseline's time but at least 1 s. The
  /// limit is never less than twice the baseline's time.
  double call_s = 20;
  double load_s = 10;   ///< [s] maximum time for loading the shared object, static constructors included
  double loads_s = 20;  ///< [s] the same for all processes of one evaluation together
  /// [s] Maximum time of the first call of a size in a process, in which a program may tune itself.
  double first_call_s = 5;
  /// [s] Maximum time of all first calls of one evaluation together, in addition to the limit of any call.
  double first_calls_s = 60;
  /// Maximum memory of the worker process, private and shared, in addition to libraries and stacks.
  std::uint64_t memory_bytes = 4ULL << 30U;
  std::uint64_t source_bytes = 1U << 20U;  ///< maximum size of all files of a program together
};

/// Computes further measures of a candidate, by name. Called after the evaluation with the program, the path
/// of the shared object that was built from it, and the evaluation so far; on the thread of the evaluation,
/// so possibly on several threads at the same time.
using measure_function = std::function<std::map<std::string, double>(
    const program&, const std::string& object_path, const evaluation&)>;

class claimed_cores;
struct ceilings;

/// Settings of `cpu_fitness`.
struct cpu_settings {
  std::string compiler = "g++";                               ///< name or path of the compiler
  std::vector<std::string> flags = {"-O3", "-march=native"};  ///< options of the compiler
  int threads = 1;                                            ///< maximum number of threads of a candidate
  sandbox_mode sandbox = sandbox_mode::required;              ///< of builds and of candidates
  cpu_limits limits;                                          ///< time and memory of a candidate
  timing_settings timing;                                     ///< how long timing may take
  /// Folder of cached results and builds, used by kevo only. Empty: builds are cached in memory, results are
  /// not cached.
  std::string cache_dir;
  std::string worker;  ///< path of kevo-worker-cpu; empty: it is searched for
  std::size_t pool_bytes =
      256U << 20U;      ///< maximum size of all generated inputs and expected outputs of a task
  double pool_s = 1.5;  ///< [s] maximum time of the reference for the inputs of all timed workloads together
  std::optional<std::uint64_t>
      seed;  ///< random seed of the inputs, for tests only; without it the seed is secret
  /// Timing continues after a look only if the upper end of the interval is at least this fraction of the
  /// champion's speedup.
  double promising = 1.0;
  std::vector<measure_function> measures;  ///< compute further measures of a candidate
  // Set by `cpu_fitness_pool`, for what its members share:
  /// The cores on which candidates are timed; null: the first free ones.
  std::shared_ptr<const claimed_cores> cores = {};
  /// Measured peak rates of the machine (the roofline); null: they are measured.
  std::shared_ptr<const ceilings> measured_ceilings = {};
  std::vector<int> build_processors = {};  ///< processors that builds may use; empty: any
};

struct program_kind;

/// Evaluates programs on one task. Thread-safe: builds run in parallel. Measuring takes an exclusive lock on
/// its processors and, on machines with few processors, pauses builds.
class cpu_fitness {
 public:
  /// Checks the task; builds and runs nothing.
  /// @throws kevo::error: input (a task that the CPU cannot run), environment
  cpu_fitness(std::shared_ptr<const task> t, cpu_settings settings = {});
  /// The same with a `kind` for programs in other languages than C++; null means C++. Used by other fitness
  /// functions of kevo.
  cpu_fitness(std::shared_ptr<const task> t, cpu_settings settings, std::shared_ptr<const program_kind> kind);
  cpu_fitness(cpu_fitness&&) noexcept;
  cpu_fitness& operator=(cpu_fitness&&) noexcept;
  ~cpu_fitness();

  /// Builds, checks and times the program of the request. A failure of the candidate is a value of the
  /// result.
  /// @throws kevo::error: input (the reference or a baseline does not build or is wrong), environment (a
  /// program that is known to work fails, too), interrupted
  evaluation evaluate(const evaluation_request& request);

  /// `draft_tools::run`: at most 10 s, in the sandbox, on the processors of the measurement, which nothing
  /// else uses meanwhile. Without a sandbox nothing is run.
  /// @throws kevo::error: environment, interrupted
  std::string run_scratch(const program& source, bool counters, const std::stop_token& stop);
  /// `draft_tools::assembly`. @throws kevo::error: environment, interrupted
  std::string assembly(const program& draft, const std::string& function, const std::stop_token& stop);

  /// One line that describes machine and settings: "cpu: AMD EPYC (2 processors), g++ -O3 -march=native, 1
  /// thread, ..."
  std::string describe() const;
  /// The C++ declaration of the function `run` that a candidate must define.
  std::string prototype() const;
  /// The task that programs are evaluated on.
  const kevo::task& subject() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

static_assert(fitness<cpu_fitness>);

/// Makes a fitness function that evaluates several C++ programs at the same time, each at its own place. A
/// place is a group of cores that no other process of kevo has claimed: one for the controller, and one for
/// each thread of the candidate. Each place measures one program at a time, and a champion is confirmed at
/// two places. Builds run on the other cores.
/// @param places maximum number of places; 0: as many as possible while one core for builds remains for each
/// place. If there are enough cores for one place only, the result is a plain `cpu_fitness`.
/// @throws kevo::error as the constructor of `cpu_fitness`
any_fitness cpu_fitness_pool(std::shared_ptr<const task> t, cpu_settings settings, std::size_t places);

}  // namespace kevo
