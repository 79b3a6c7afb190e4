#pragma once
// What happened in a run, as one plain value that is built from its events: reports, `kevo show` and exports
// read it.

#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <kevo/archive.hpp>
#include <kevo/detail/latest_scores.hpp>
#include <kevo/event.hpp>
#include <kevo/score.hpp>

#include "src/report/device_use.hpp"

namespace kevo {

/// One finished evaluation of a candidate.
struct evaluation_record {
  std::uint64_t ordinal = 0;  ///< its number among all finished evaluations, from 1
  double time_s = 0;          ///< [s] run time at which it was told
  kevo::outcome outcome = kevo::outcome::build_failed;
  evaluation_stage wanted = evaluation_stage::timed_full;
  evaluation_stage stage = evaluation_stage::none;
  bool cached = false;
  archive_status archived = archive_status::rejected;
  double score = 0;
  double speedup = 0;
  interval speedup_interval;
};

/// A candidate, without its source and without what its evaluations say in words.
struct candidate_record {
  content_id program;
  operator_index op = seed_operator;
  std::vector<candidate_id> parents;
  std::vector<candidate_id> inspirations;
  double born_s = 0;    ///< [s] run time
  std::string summary;  ///< of the proposal
  std::string dropped;  ///< why the proposal filter dropped it; empty if it did not
  spending cost;        ///< of the variation
  double score = 0;     ///< as the search knows it: the latest, averaged over re-evaluations; 0 unless valid
  std::vector<evaluation_record> evaluations;

  bool evaluated() const { return !evaluations.empty(); }
  /// Whether the latest evaluation is valid and the score is a finite number.
  bool ranked() const {
    return evaluated() && evaluations.back().outcome == outcome::valid && std::isfinite(score);
  }
  const evaluation_record* latest() const { return evaluations.empty() ? nullptr : &evaluations.back(); }
};

/// The best score rose.
struct best_point {
  std::uint64_t ordinal = 0;  ///< of the evaluation
  double time_s = 0;          ///< [s]
  candidate_id candidate = no_candidate;
  double score = 0;
};

/// A champion was crowned, or got other figures: those of its confirmations.
struct champion_record {
  std::uint64_t ordinal = 0;  ///< evaluations that were finished
  double time_s = 0;          ///< [s]
  candidate_id candidate = no_candidate;
  double score = 0;
  double speedup = 0;  ///< 0 if the fitness function gave a score alone
  interval speedup_interval;
  champion_verdict verdict{};
};

using outcome_counts = std::array<std::uint64_t, outcome_names.size()>;

/// What one operator did. `candidates` and what follows speak of its own candidates' first evaluations.
struct operator_record {
  std::uint64_t turns = 0;  ///< variations that ended
  std::uint64_t proposals = 0;
  std::uint64_t duplicates = 0;
  std::uint64_t no_proposals = 0;
  std::uint64_t filtered = 0;          ///< proposals that the proposal filter dropped
  std::uint64_t refused_in_a_row = 0;  ///< turns without a program since the last one that had one
  std::string refusal;                 ///< why the last turn without a program had none
  std::uint64_t candidates = 0;
  std::uint64_t valid = 0;
  std::uint64_t improved = 0;   ///< displaced an elite
  std::uint64_t new_cells = 0;  ///< filled an empty niche
  std::uint64_t crowned = 0;    ///< became champion
  outcome_counts outcomes{};
  double reward = 0;    ///< sum over turns of the relative gain that the archive granted, 0..1 each
  spending variation;   ///< of its variations
  spending evaluation;  ///< of its candidates' first evaluations

  double mean_reward() const { return turns == 0 ? 0 : reward / static_cast<double>(turns); }
};

/// The search stopped or went on.
struct run_mark {
  std::uint64_t ordinal = 0;
  double time_s = 0;
  bool stopped = false;  ///< else resumed
  std::string reason;
};

/// A program by its id; null if it is not known.
using program_source = std::function<std::shared_ptr<const program>(const content_id&)>;

/// A value; `consume` keeps it, in O(1) amortized an event. About 300 bytes a candidate plus its summary. Not
/// thread-safe.
class run_history {
 public:
  run_history() = default;
  /// Follows the archive too: `empty` is a container as the run began with. Without one, `archive()` is
  /// empty. `programs` is asked for the sources of candidates if the archive wants them.
  explicit run_history(any_archive empty, program_source programs = {})
      : archive_(std::move(empty)), programs_(std::move(programs)) {
    if (archive_) measures_ = archive_.measures();
  }

  void consume(const event& what);

  const std::vector<candidate_record>& candidates() const { return candidates_; }
  const std::vector<best_point>& best_seen() const { return best_; }
  /// Every champion there was, and each change of its figures, oldest first.
  const std::vector<champion_record>& champions() const { return champions_; }
  /// The champion that the run has now; null before the first one, and after one was disqualified.
  const champion_record* champion() const { return has_champion_ ? &champions_.back() : nullptr; }
  const std::vector<run_mark>& marks() const { return marks_; }
  /// By operator_index; as long as the highest index that was seen.
  const std::vector<operator_record>& operators() const { return operators_; }
  /// What the seeds came to: only `candidates`, `valid` and outcomes.
  const operator_record& seeds() const { return seeds_; }
  /// Seeds that are not valid, with what was said of them.
  const std::map<candidate_id, std::string>& failed_seeds() const { return failed_seeds_; }
  /// Valid candidates that are the program of the baseline, with its name: they are never champion.
  const std::map<candidate_id, std::string>& baseline_duplicates() const { return baseline_duplicates_; }
  /// Candidates by their latest outcome.
  const outcome_counts& outcomes() const { return outcomes_; }
  /// Whether every score that was seen is a speedup over the baseline: with a fitness function that gives
  /// scores of its own, they are written bare.
  bool scores_are_speedups() const { return scores_are_speedups_; }
  const kevo::ledger& spent() const { return ledger_; }
  /// `evaluation_cost::parts_s` of all evaluations together. [s]
  const std::map<std::string, double>& parts_s() const { return parts_s_; }
  /// The devices that evaluated, where there were several.
  const device_use& devices() const { return devices_; }
  /// All finished evaluations: first ones, re-evaluations, confirmations, drafts.
  std::uint64_t evaluations() const { return ordinal_; }
  const any_archive& archive() const { return archive_; }
  /// Why the search stopped last; nothing while it goes on.
  std::optional<std::string> stopped_by() const;

  /// The champion; without one the candidate of the best score; nothing while none is valid.
  std::optional<candidate_id> best() const;
  /// A candidate that was confirmed and is not champion, although the interval of its latest confirmation
  /// lies above that of the champion: whether it is faster is undecided. Of several the one with the highest
  /// lower end; nothing if there is none. O(n) for n candidates.
  std::optional<candidate_id> better_undecided() const;
  /// The figures with which a candidate was crowned last; null if it never was, or if it was found invalid
  /// since. (A champion that keeps its place although it failed has a verdict that says so.)
  const champion_record* crown_of(candidate_id id) const;
  /// A candidate and its ancestors, oldest first; the nearest `limit` by generation if there are more.
  std::vector<candidate_id> lineage(candidate_id id, std::size_t limit = 1000) const;
  /// The candidate, its best parent, that one's best parent, ...: oldest first.
  std::vector<candidate_id> main_line(candidate_id id) const;

 private:
  struct turn {
    operator_index op = seed_operator;
    std::vector<candidate_id> parents, inspirations;
  };
  void told(const variation_told& what, double time_s);
  void told(const evaluation_told& what, double time_s);
  const champion_record* last_crown_of(candidate_id id) const;
  operator_record& record_of(operator_index op);
  double reward_of(const candidate_record& child, const archive_result& archived, double score) const;

  any_archive archive_;
  program_source programs_;
  std::vector<std::string> measures_;
  std::vector<candidate_record> candidates_;
  std::vector<best_point> best_;
  std::vector<champion_record> champions_;
  bool has_champion_ = false;  ///< the last of them is champion now
  std::vector<run_mark> marks_;
  std::vector<operator_record> operators_;
  operator_record seeds_;
  std::map<candidate_id, std::string> failed_seeds_;
  std::map<candidate_id, std::string> baseline_duplicates_;
  outcome_counts outcomes_{};
  kevo::ledger ledger_;
  std::map<std::string, double> parts_s_;
  device_use devices_;
  std::uint64_t ordinal_ = 0;
  score_range scores_;
  detail::latest_scores standing_;
  bool scores_are_speedups_ = true;
  std::unordered_map<ticket, turn> turns_;
  std::unordered_map<ticket, bool> fresh_;
};

/// Builds a history from a source of events (a journal's `for_each_event`).
template <class EventSource>
run_history history_of(const EventSource& for_each_event, any_archive empty = {},
                       program_source programs = {}) {
  run_history history(std::move(empty), std::move(programs));
  for_each_event([&history](const event& what) { history.consume(what); });
  return history;
}

}  // namespace kevo
