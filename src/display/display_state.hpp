#pragma once
// What a display remembers of a run: small, whatever the run's length (a few bytes a candidate).

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include <kevo/event.hpp>

#include "src/display/run_status.hpp"
#include "src/display/standings.hpp"
#include "src/report/archive_map.hpp"

namespace kevo {

/// A candidate that was better than all before it.
struct improvement {
  candidate_id candidate = no_candidate;
  operator_index op = seed_operator;
  double score = 0;
  double speedup = 0;  ///< 0 if the fitness function gave a score alone
  interval speedup_interval;
  /// The figure that it was better than: a champion's predecessor, else the best that had been seen; 0 for
  /// the first. A confirmed figure is compared with a confirmed one alone.
  double before = 0;
  bool confirmed = false;       ///< measured again in fresh processes, and champion
  bool measured_again = false;  ///< so measured, champion or not
  champion_verdict verdict{};   ///< on what was measured again
  double time_s = 0;
  std::string summary;
};

/// One value for `render`. `consume` and `refresh` keep it; times are run times.
struct display_state {
  run_title title;
  run_status status;  ///< its archive pointer is not kept
  archive_map archive;
  bool unicode = true;
  std::string message;  ///< the latest
  std::string waiting;  ///< what the run waits for at present, in place of the message; empty if nothing

  std::array<std::uint64_t, outcome_names.size()> outcomes{};  ///< of candidates, by their latest evaluation
  std::uint64_t evaluations = 0;                               ///< finished ones
  std::uint64_t confirmations = 0;                             ///< besides
  std::uint64_t improved = 0;                                  ///< how often something better was seen
  bool scores_are_speedups = true;                             ///< all that were seen
  std::vector<double> curve;             ///< best score so far at equally spaced evaluations
  std::uint64_t curve_step = 1;          ///< evaluations between two points of it
  std::optional<double> best_seen;       ///< best score, confirmed or not; nothing before the first
  std::deque<improvement> improvements;  ///< the newest last, at most `improvements_kept`
  std::optional<improvement> champion;
  std::shared_ptr<const evaluation> champion_result;  ///< its latest confirmation, else its latest evaluation
  std::set<candidate_id> baseline_duplicates;  ///< valid candidates that are the program of the baseline
  std::string stopped;                         ///< the reason; empty while the search goes on
  bool closed = false;                         ///< nothing more can follow

  static constexpr std::size_t improvements_kept = 32;
  static constexpr std::size_t curve_kept = 512;

  void consume(const event& what);
  void refresh(const run_status& now);

  /// Evaluations per second, confirmations included, over the last half minute (or since the start); 0 if
  /// unknown.
  double rate() const;
  /// [s] until the first rule's budget is used up, each by its own pace over the last minute; a rule that was
  /// set back meanwhile (a stall that ended) does not count. Nothing if it cannot be told.
  std::optional<double> remaining_s() const;
  /// The champion; without one the valid candidate of the highest score as it was measured last: what
  /// `kevo show` calls the best. Nothing while none is valid.
  std::optional<improvement> best() const;
  /// A candidate that looks better than the champion and was not measured again.
  std::optional<improvement> rival() const;
  /// A candidate that was measured again and is not champion, although its latest interval lies above the
  /// champion's: `run_history::better_undecided`, except that the one with the highest score is taken.
  std::optional<improvement> better_undecided() const;
  /// The figure of a row: the speedup where all scores are speedups, else the score.
  double shown_figure(const improvement& one) const { return scores_are_speedups ? one.speedup : one.score; }
  /// "tune", "seed", "operator 3".
  std::string operator_name(operator_index op) const;

 private:
  void consume_evaluation(const evaluation_told& told, double time_s);
  void consume_crown(const champion_crowned& crowned, double time_s);

  struct pending_variation {
    operator_index op = seed_operator;
  };
  void describe(improvement& entry) const;
  improvement seen(candidate_id candidate) const;
  void correct(candidate_id candidate, const evaluation& e);
  void remember_maker(candidate_id candidate, operator_index op, const std::string& summary);

  std::vector<std::uint8_t> latest_;       // outcome by candidate, 255 if none
  std::vector<operator_index> operators_;  // by candidate: any of them can become champion much later
  std::unordered_map<ticket, pending_variation> asked_;
  std::map<candidate_id, std::string> summaries_;  // of candidates that are not known to be invalid
  standings standings_;
  std::set<ticket> fresh_;  // evaluations that were asked for although one was known
  std::shared_ptr<const evaluation> last_result_;
  candidate_id last_candidate_ = no_candidate;
  std::deque<double> times_;  // of recent evaluations
  struct pace {
    double time_s = 0;
    std::vector<double> used;  // of each budget; one value if there is only the whole
  };
  std::deque<pace> paces_;
};

}  // namespace kevo
