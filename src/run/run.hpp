#pragma once
// `kevo run`, `kevo resume` and `kevo run --replay`: a session with a display and Ctrl-C.

#include <optional>
#include <string>
#include <vector>

#include <kevo/session.hpp>

#include "src/display/display.hpp"
#include "src/run/evaluator_run.hpp"

namespace kevo {

struct run_request {
  std::string config_path;             ///< may be empty if there is a folder of another system
  std::vector<std::string> overrides;  ///< "section.key=value"
  display_mode display = display_mode::automatic;
  std::optional<evaluator_choice> evaluator = {};  ///< whose task and fitness the run has
};

struct resume_request {
  std::string directory;
  std::string task = {};               ///< where the task file is now; empty: where it was
  std::vector<std::string> overrides;  ///< of `stop` and `run.parallel` alone: the rest would change the past
  display_mode display = display_mode::automatic;
};

/// Runs a config to its end. Throws kevo::error; whatever was evaluated before is in the journal.
run_outcome start_run(const run_request& request);

/// Goes on where a run was stopped or killed.
run_outcome resume_run(const resume_request& request);

/// Feeds a recorded run back and recomputes every decision.
/// @param task where the task file is now; empty: where it was
replay_outcome replay_run(const std::string& directory, replayed_operators which = replayed_operators::pure,
                          const std::string& task = {});

}  // namespace kevo
