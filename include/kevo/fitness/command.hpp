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
  process_limits limits = default_limits();
  sandbox_mode sandbox = sandbox_mode::best;
  std::vector<int> cpus;  ///< numbers of the processors that the program may use; empty: any

  /// The default limits: 300 s of wall time, 256 processes, 1 MiB of output.
  static process_limits default_limits();
};

/// Runs the user's program once on a candidate. The program prints a JSON object to standard output: as the
/// whole output, as its end (which may have several lines), or as its last line that is a JSON object. Keys
/// of the object:
///   score    any finite number, what selection maximizes (required unless valid is false). It is not taken
///            for a speedup: without one, the evaluation has a score alone. `combined_score` means the same
///   valid    true or 1 (default), or false or 0: the outcome is `incorrect`
///   outcome  optional, one of kevo's outcome names
///   speedup  optional number above 0, over whatever the program compares with; the score if that is absent
///   baseline what that speedup is over, a name
///   feedback text for operators
///   every further number becomes a measure of that name
/// What it writes to standard error joins the feedback if the candidate is not valid, or is the feedback if
/// the object has none.
/// A crash or an exit code other than 0 is `crashed`, a time-out `timed_out`, a program without files or with
/// a bad name of a file `build_failed`; output that is not such an object, a number that is not finite and a
/// speedup that is not above 0 are `incorrect`; each with its reason.
/// @throws kevo::error: environment (the program cannot be started, the sandbox may not read `directory`),
/// input (`directory` is the root), interrupted (`stop`)
evaluation run_command_fitness(const command_settings& settings, const program& candidate,
                               std::stop_token stop = {});

/// The fitness function that calls the program.
class command_fitness {
 public:
  /// @throws kevo::error (input) if there is no command
  explicit command_fitness(command_settings settings);
  evaluation evaluate(const evaluation_request& request) const;
  std::string describe() const;

 private:
  command_settings settings_;
};

static_assert(fitness<command_fitness>);

}  // namespace kevo
