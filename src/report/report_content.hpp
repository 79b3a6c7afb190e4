#pragma once
// All that a report of a run speaks of, gathered before anything is drawn.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <kevo/evaluation.hpp>
#include <kevo/program.hpp>

#include "src/report/archive_map.hpp"
#include "src/report/judged_again.hpp"
#include "src/report/run_history.hpp"

namespace kevo {

/// A value; whatever is not known stays empty and is left out of the page.
struct report_content {
  std::string run;
  std::string folder;  ///< as the user gave it
  std::string task;
  std::string device;
  std::string version;  ///< of kevo when the run began
  std::string seed;
  std::string command;  ///< that repeats the run
  std::string started;  ///< local date and time
  std::string config;   ///< the resolved config, YAML
  std::vector<std::string> operator_names;
  /// Files of seeds as the task calls them, by the content id of the program; empty for runs of older
  /// versions.
  std::map<std::string, std::string> seed_files;

  run_history history;
  archive_map archive;

  std::optional<candidate_id> best;
  std::shared_ptr<const program> best_program;
  std::shared_ptr<const evaluation> best_evaluation;  ///< its confirmation if there is one
  candidate_id root = no_candidate;                   ///< the seed that the best descends from
  std::shared_ptr<const program> root_program;
  judgements judged;  ///< after the run, by `kevo rejudge`

  /// The champion's record; null if there is no champion.
  const champion_record* crown() const { return best ? history.crown_of(*best) : nullptr; }
  /// "tune", "seed", "operator 7".
  std::string operator_name(operator_index op) const {
    if (op == seed_operator) return "seed";
    return op < operator_names.size() ? operator_names[op] : "operator " + std::to_string(op);
  }
};

/// Why the champion is undecided, without a full stop; empty if it is confirmed, or if there is none.
std::string why_undecided(const report_content& content);

}  // namespace kevo
