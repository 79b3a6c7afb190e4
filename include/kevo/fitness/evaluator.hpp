#pragma once
// The fitness functions `openevolve` and `shinka`: evaluators that were written for OpenEvolve or
// ShinkaEvolve judge the candidates. Compiled: link kevo::kevo.

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include <kevo/evaluate.hpp>
#include <kevo/fitness/sandbox.hpp>

namespace kevo {

/// For which system an evaluator was written.
enum class evaluator_system : std::uint8_t { openevolve, shinka };

/// How to run an evaluator.
struct evaluator_settings {
  evaluator_system system = evaluator_system::openevolve;
  /// The folder that holds it: mounted read-only, its working directory, and modules are imported from it.
  std::string folder;
  /// Its file, relative to the folder; empty: "evaluator.py" for OpenEvolve, "evaluate.py" for ShinkaEvolve.
  std::string evaluator;
  std::string python = "python3";  ///< an interpreter, which may be that of a virtual environment
  /// OpenEvolve: whether `evaluate_stage1` to `evaluate_stage3`, if the evaluator defines them, take the
  /// place of `evaluate`.
  bool cascade = true;
  /// OpenEvolve: the score that stage 1, 2 must reach for the next one to be called. There are no more stages
  /// than thresholds, and one.
  std::vector<double> thresholds = {0.5, 0.75, 0.9};
  /// OpenEvolve: metrics that are left out where the score is the mean of all.
  std::vector<std::string> features;
  std::vector<std::string> environment;      ///< "NAME=value"; further variables
  std::vector<mount> mounts;                 ///< further folders and files it may see
  std::vector<std::string> hidden;           ///< folders and files below those that it sees as empty
  double timeout_s = 300;                    ///< [s] of each stage
  process_limits limits = default_limits();  ///< `wall_s` is made from `timeout_s`
  sandbox_mode sandbox = sandbox_mode::required;
  std::vector<int> cpus;

  /// 4096 processes and threads, 16 MB of output, 1 GiB each for /tmp and /dev/shm.
  static process_limits default_limits();
};

/// Calls an evaluator for a program by a script of kevo's, so that neither system has to be installed. The
/// score is `combined_score`; OpenEvolve: else the mean of the numbers less `features`. It may have any sign;
/// higher is better. Numbers become measures; artifacts, the error and standard error are the feedback.
///
/// The evaluator and the program share a process or a user: like the systems that such evaluators come from,
/// this trusts the program not to forge its own score. Thread-safe.
class evaluator_fitness {
 public:
  /// Finds the interpreter by running it, which takes some 20 ms.
  /// @throws kevo::error: input (no such folder or evaluator, or the folder is the root), environment (no
  /// such interpreter)
  explicit evaluator_fitness(evaluator_settings settings);
  /// `wanted` up to `checked` calls the first stage alone. An evaluator that raises is `crashed`, one that
  /// takes too long `timed_out`, a score that is not finite and a program that ShinkaEvolve's evaluator calls
  /// wrong `incorrect`. Where a later stage of OpenEvolve's fails, the score of those before it counts.
  /// @throws kevo::error: environment, interrupted (`request.stop`)
  evaluation evaluate(const evaluation_request& request) const;
  std::string describe() const;

 private:
  struct interpreter;
  evaluator_settings settings_;
  std::shared_ptr<const interpreter> python_;
};

static_assert(fitness<evaluator_fitness>);

}  // namespace kevo
