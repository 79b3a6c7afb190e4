#pragma once
// The CPU fitness function: C++ candidates, built and run in a sandbox, checked against a secret oracle and
// timed by the controller's clock against a baseline. Every setting has a default that suits a laptop.
// Compiled: link kevo::kevo.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <kevo/evaluate.hpp>
#include <kevo/evaluation.hpp>
#include <kevo/fitness/sandbox.hpp>
#include <kevo/program.hpp>
#include <kevo/task.hpp>

namespace kevo {

/// What a candidate may use.
struct cpu_limits {
  double build_s = 60;        ///< [s] of one build
  double call_s = 20;         ///< [s] of one call, at most; usually 20 times the baseline's, at least 1 s
  double load_s = 10;         ///< [s] of loading what was built, constructors included
  double loads_s = 20;        ///< [s] of the same in all processes of one evaluation together
  double first_call_s = 5;    ///< [s] of the first call of a size in a process, which may tune itself
  double first_calls_s = 60;  ///< [s] of all first calls of one evaluation together, beyond those of any call
  std::uint64_t memory_bytes =
      4ULL << 30U;  ///< of the worker, private and shared, besides libraries and stacks
  std::uint64_t source_bytes = 1U << 20U;  ///< of all files of a program together
};

/// How long measuring may take, for one workload. A pair is some calls of the candidate and some of the
/// baseline, each in a new process; a look computes an interval from all pairs so far.
struct timing_budget {
  int short_blocks = 5;  ///< pairs of the first look
  int full_blocks =
      40;  ///< pairs of the last look; a look has two to three times the pairs of the one before
  double short_s = 0.4;      ///< [s] no new pair of the first look begins after this, but for the first 4
  double full_s = 2;         ///< [s] the same for all looks together, but for 6; a confirmation has
                             ///< three times as long, and at least 8 pairs
  double sustained_s = 0.5;  ///< [s] a confirmation goes on with the candidate alone for this long
  double target_interval =
      0.02;             ///< full timing ends early when the speedup's interval is narrower, relative
  double alpha = 0.01;  ///< the chance that an interval misses, all looks together
};

/// Further measures of a candidate, by name. Called after the evaluation with the program, the path of the
/// shared object that it was built to, and the evaluation so far; on the thread that evaluates, so perhaps on
/// several threads at once.
using measure_function = std::function<std::map<std::string, double>(
    const program&, const std::string& object_path, const evaluation&)>;

struct cpu_settings {
  std::string compiler = "g++";
  std::vector<std::string> flags = {"-O3", "-march=native"};
  int threads = 1;
  sandbox_mode sandbox = sandbox_mode::required;
  cpu_limits limits;
  timing_budget timing;
  std::string cache_dir;  ///< results and builds; private to kevo; empty: builds are cached in memory,
                          ///< results not at all
  std::string worker;     ///< path of kevo-worker-cpu; empty: found
  std::size_t pool_bytes = 256U << 20U;  ///< of all contents of a task together
  double pool_s = 1.5;  ///< [s] the reference may take for the contents of all timed workloads together
  std::optional<std::uint64_t> seed;  ///< of the contents; for tests only, otherwise it is secret
  double promising = 1.0;  ///< timing goes on while the upper end of a look reaches this share of the best
  std::vector<measure_function> measures;
};

/// Evaluates programs on one task. Thread-safe: builds run in parallel, measuring takes an exclusive lock on
/// its processors and, where they are few, lets builds stand still meanwhile.
class cpu_fitness {
 public:
  /// Nothing is built or run yet. @throws kevo::error: input (a task that the CPU cannot run), environment
  cpu_fitness(std::shared_ptr<const task> t, cpu_settings settings = {});
  cpu_fitness(cpu_fitness&&) noexcept;
  cpu_fitness& operator=(cpu_fitness&&) noexcept;
  ~cpu_fitness();

  /// The cascade. Every failure of the candidate is a value.
  /// @throws kevo::error: input (reference or baseline does not build or is wrong), environment (the canary
  /// fails, too), interrupted
  evaluation evaluate(const evaluation_request& request);

  /// "cpu: AMD EPYC (2 processors), g++ -O3 -march=native, 1 thread, sandbox ..."
  std::string describe() const;
  /// What the program is called with: the prototype of `run`.
  std::string prototype() const;
  const kevo::task& subject() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

static_assert(fitness<cpu_fitness>);

}  // namespace kevo
