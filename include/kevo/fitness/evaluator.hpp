#pragma once
// The fitness functions `openevolve` and `shinka`: they evaluate candidates with an evaluator that was
// written for OpenEvolve or ShinkaEvolve. Compiled: link kevo::kevo.

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include <kevo/evaluate.hpp>
#include <kevo/fitness/sandbox.hpp>

namespace kevo {

/// The system for which an evaluator was written.
enum class evaluator_system : std::uint8_t { openevolve, shinka };

/// How to run an evaluator.
struct evaluator_settings {
  evaluator_system system = evaluator_system::openevolve;  ///< decides how the evaluator is called
  /// The folder of the evaluator. It is mounted read-only, it is the working directory, and Python imports
  /// modules from it.
  std::string folder;
  /// The file of the evaluator, relative to the folder; empty: "evaluator.py" for OpenEvolve, "evaluate.py"
  /// for ShinkaEvolve.
  std::string evaluator;
  /// Name or path of the Python interpreter, which may be that of a virtual environment.
  std::string python = "python3";
  /// OpenEvolve: whether the functions `evaluate_stage1` to `evaluate_stage3` are called instead of
  /// `evaluate`, if the evaluator defines them.
  bool cascade = true;
  /// OpenEvolve: the scores that stage 1, stage 2, ... must reach for the next stage to be called. With n
  /// thresholds, at most n + 1 stages are called.
  std::vector<double> thresholds = {0.5, 0.75, 0.9};
  /// OpenEvolve: names of metrics that are left out when the score is computed as the mean of all metrics.
  std::vector<std::string> features;
  std::vector<std::string> environment;  ///< further environment variables, each "NAME=value"
  std::vector<mount> mounts;             ///< further folders and files that are visible to the evaluator
  /// Folders and files within visible folders that appear empty to the evaluator.
  std::vector<std::string> hidden;
  double timeout_s = 300;                         ///< [s] maximum time of each stage
  process_limits limits = default_limits();       ///< `wall_s` is ignored; it is computed from `timeout_s`
  sandbox_mode sandbox = sandbox_mode::required;  ///< whether the evaluator runs in a sandbox
  std::vector<int> cpus;  ///< numbers of the processors that the evaluator may use; empty: any

  /// The default limits: 4096 processes and threads, 4096 open files, 16 MiB of output, 1 GiB each for /tmp
  /// and /dev/shm.
  static process_limits default_limits();
};

/// Evaluates programs by calling an evaluator from a script of kevo, so that neither OpenEvolve nor
/// ShinkaEvolve has to be installed. The score is the metric `combined_score`. If an OpenEvolve evaluator
/// does not return it, the score is the mean of all numeric metrics without `features`. A score may be
/// negative; higher is better. Numeric metrics become measures. Artifacts, the error and standard error
/// become the feedback.
///
/// The evaluator and the program run in the same process or as the same user. A program could therefore forge
/// its own score, as it could in OpenEvolve and ShinkaEvolve. Thread-safe.
class evaluator_fitness {
 public:
  /// Finds the interpreter by running it, which takes some 20 ms.
  /// @throws kevo::error: input (no such folder or evaluator, or the folder is the root), environment (no
  /// such interpreter)
  explicit evaluator_fitness(evaluator_settings settings);
  /// Evaluates the program of the request. If the wanted stage is `checked` or an earlier one, only the first
  /// stage of the evaluator is called. Outcomes: `crashed` if the evaluator raises an exception; `timed_out`
  /// if it takes too long; `incorrect` if the score is not finite, or if a ShinkaEvolve evaluator reports
  /// that the program is not correct. If a later stage of an OpenEvolve evaluator fails, the score of the
  /// stages before it counts.
  /// @throws kevo::error: environment, interrupted (`request.stop`)
  evaluation evaluate(const evaluation_request& request) const;
  /// One line that shows the system, the evaluator and the interpreter.
  std::string describe() const;

 private:
  struct interpreter;
  evaluator_settings settings_;
  std::shared_ptr<const interpreter> python_;
};

static_assert(fitness<evaluator_fitness>);

}  // namespace kevo
