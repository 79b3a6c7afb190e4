#pragma once
// What `kevo rejudge` found of a run's candidates after the run, as reports and `kevo show` tell it.

#include <map>
#include <string>

#include <kevo/candidate.hpp>
#include <kevo/evaluation.hpp>

namespace kevo {

/// The latest judgement of one candidate.
struct judged_again {
  std::string judged_at;  ///< UTC, ISO 8601
  std::string kevo_version;
  std::string protocol;  ///< version of the measuring protocol
  std::string verdict;   ///< holds, slower, faster, fell or undecided
  std::string reason;    ///< why it fell or is undecided; may be empty
  kevo::outcome outcome = kevo::outcome::build_failed;
  double score = 0;
  double speedup = 0;  ///< 0 if there is none
  interval speedup_interval;
};

/// All of a run. A value.
struct judgements {
  std::map<candidate_id, judged_again> latest;
  std::string problem;  ///< why the file of the judgements cannot be read; empty if it can, or is not there

  const judged_again* of(candidate_id id) const {
    const auto found = latest.find(id);
    return found == latest.end() ? nullptr : &found->second;
  }
  /// Candidates by their latest verdict.
  std::map<std::string, std::size_t> counts() const;
  /// "3 holds, 1 fell (2026-11-22, kevo 0.3.0)", or the problem; empty where nothing was judged. Untrusted
  /// text.
  std::string summary() const;
};

/// Reads RUN/rejudged.sqlite. Never throws kevo::error: what is wrong with the file is the `problem`.
judgements judgements_of(const std::string& run_directory);

/// "fell on 2026-11-22 (kevo 0.3.0): wrong result". Untrusted text.
std::string judgement_text(const judged_again& one);

}  // namespace kevo
