#pragma once
// The fitness function `command`: it calls a program of the user with the path of a candidate, and reads the
// result from the JSON object that the program prints. Compiled: link kevo::kevo.

#include <stop_token>
#include <string>
#include <vector>

#include <kevo/evaluate.hpp>
#include <kevo/fitness/sandbox.hpp>

namespace kevo {

/// How to run the user's program.
struct command_settings {
  /// The program and its arguments. "{candidate}" in an argument is replaced by the path of the candidate; if
  /// no argument contains it, the path is appended as the last argument. A program without a slash is
  /// searched for in PATH, and one such as "./judge" in `directory`. Files that arguments name, by absolute
  /// paths or relative to `directory`, can be read inside the sandbox.
  std::vector<std::string> command;
  std::vector<std::string> environment;  ///< variables, each "NAME=value"; PATH is added if it is missing
  std::vector<mount> mounts;             ///< further folders and files that are visible to the program
  /// Folders and files within visible folders that appear empty to the program.
  std::vector<std::string> hidden;
  /// Working directory of the program, mounted read-only; empty: the candidate's folder.
  std::string directory;
  process_limits limits = default_limits();   ///< of the program; see default_limits
  sandbox_mode sandbox = sandbox_mode::best;  ///< whether the program runs in a sandbox
  std::vector<int> cpus;  ///< numbers of the processors that the program may use; empty: any

  /// The default limits: 300 s of wall time, 256 processes and threads, 1024 open files, 1 MiB of output, 1
  /// GiB for /tmp.
  static process_limits default_limits();
};

/// Runs the user's program once on a candidate. The program prints a JSON object to standard output: as the
/// whole output, as its end (which may have several lines), or as its last line that is a JSON object. Keys
/// of the object:
///   - `score`: any finite number, which the search maximizes. It is required for a valid candidate without
///     `speedup`. It is not a speedup: without `speedup`, the evaluation has only a score. `combined_score`
///     means the same.
///   - `speedup`: a number above 0, relative to what the program compares with. Without `score` it is also
///     the score. Optional.
///   - `baseline`: name of what the speedup is relative to. Optional.
///   - `valid`: true or 1 (the default); or false or 0, which gives the outcome `incorrect`.
///   - `outcome`: name of an outcome (evaluation.hpp). Optional.
///   - `reasons`: list of short texts, one for each failed check. Optional.
///   - `feedback`: text for operators. Optional.
///   - Every other number, and every truth value as 0 or 1, becomes a measure with the name of its key.
///
/// If the object contains no feedback, standard error is the feedback. Otherwise it is appended to the
/// feedback if the candidate is not valid.
///
/// Failures are outcomes with a reason. `crashed`: the program was ended by a signal or had an exit code
/// other than 0. `timed_out`: it exceeded its time limit. `build_failed`: the candidate has no files, or a
/// file name that is not allowed. `incorrect`: the output contains no such object, a number is not finite, or
/// the speedup is not above 0.
/// @throws kevo::error: environment (the program cannot be started, the sandbox may not read `directory`),
/// input (there is no command, `directory` is the root), interrupted (`stop`)
evaluation run_command_fitness(const command_settings& settings, const program& candidate,
                               std::stop_token stop = {});

/// The fitness function that calls the program.
class command_fitness {
 public:
  /// @throws kevo::error (input) if there is no command
  explicit command_fitness(command_settings settings);
  /// Calls `run_command_fitness` for the program of the request, whatever stage is wanted. Thread-safe.
  evaluation evaluate(const evaluation_request& request) const;
  /// One line that shows the command.
  std::string describe() const;

 private:
  command_settings settings_;
};

static_assert(fitness<command_fitness>);

}  // namespace kevo
