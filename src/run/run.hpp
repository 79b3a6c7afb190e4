#pragma once
// A whole run from a config to its end: journal, display, threads, best file, report.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <kevo/ledger.hpp>
#include <kevo/search.hpp>

#include "src/display/display.hpp"

namespace kevo {

struct run_request {
  std::string config_path;
  std::vector<std::string> overrides;  ///< "section.key=value"
  display_mode display = display_mode::automatic;
};

struct resume_request {
  std::string directory;
  std::string task = {};               ///< where the task file is now; empty: where it was
  std::vector<std::string> overrides;  ///< of `stop` and `run.parallel` alone: the rest would change the past
  display_mode display = display_mode::automatic;
};

/// How a run, or a session of it, ended.
struct run_outcome {
  std::string directory;
  champion best;
  std::string best_file;  ///< empty if there is no champion
  std::string stopped_by;
  kevo::ledger ledger;
  bool interrupted = false;
  std::string baseline;
  std::optional<screening_report> screened;  ///< nothing without a screening
  std::vector<std::string> setbacks;         ///< why it came to little (setbacks_of)
};

/// Runs a config to its end. Throws kevo::error; whatever was evaluated before is in the journal.
run_outcome start_run(const run_request& request);

/// Goes on where a run was stopped or killed.
run_outcome resume_run(const resume_request& request);

struct replay_outcome {
  run_outcome run;
  std::uint64_t events = 0;
  std::optional<std::string> divergence;
  std::uint64_t replies = 0;           ///< of language models that were taken from the record
  std::uint64_t changed_requests = 0;  ///< of these: the request was not the recorded one
};

/// Which operators a replay runs again: those that follow from request and stream alone, or also those that
/// ask language models, with the journal's replies.
enum class replayed_operators : std::uint8_t { pure, with_models };

/// Feeds a recorded run back and recomputes every decision; asks no model, evaluates nothing, writes nothing.
/// @param task where the task file is now; empty: where it was
replay_outcome replay_run(const std::string& directory, replayed_operators which = replayed_operators::pure,
                          const std::string& task = {});

}  // namespace kevo
