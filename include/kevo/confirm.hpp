#pragma once
// Who may be champion: the protocol by which a candidate that looks better than the champion is measured once
// more, by itself and in full, before it takes the champion's place. Selection by noisy maxima flatters, so
// the figures of a champion come from its confirmations alone.

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include <kevo/candidate.hpp>
#include <kevo/evaluate/pooled.hpp>
#include <kevo/evaluation.hpp>
#include <kevo/population.hpp>
#include <kevo/verdict.hpp>

namespace kevo {

/// The best confirmed candidate. Its figures are those of its confirmations together.
struct champion {
  candidate_id id = no_candidate;
  double score = 0;    ///< meaningless while there is no champion
  double speedup = 0;  ///< 0 if the fitness function compares with no baseline
  interval speedup_interval;
  double sol_fraction = 0;   ///< 0 if unknown
  champion_verdict verdict;  ///< whether the figure may be called confirmed
  std::string disturbed;     ///< what else used the machine meanwhile, a sentence of the fitness function's

  explicit operator bool() const { return id != no_candidate; }
  /// The speedup that is shown: of an undecided champion the lower end of its interval.
  double sure_speedup() const { return verdict.confirmed() ? speedup : std::max(0.0, speedup_interval.low); }
};

/// One confirmation at a time, of the best contender: most of those that beat an old champion for a moment
/// are beaten themselves while they wait. A candidate is confirmed once; while it is undecided, and could be
/// champion, up to `confirmation_rules::further` times more, and all its confirmations count together. A
/// value without time, threads or random numbers; a search tells it every result and asks it for the next
/// candidate to confirm.
class confirmation {
 public:
  confirmation() = default;
  explicit confirmation(confirmation_rules rules) : rules_(rules) {}

  const confirmation_rules& rules() const { return rules_; }
  const champion& best() const { return champion_; }
  /// The candidate that is to be confirmed for the first time next; `no_candidate` if there is none.
  candidate_id contender() const { return contender_; }
  /// The candidate that is to be confirmed next: one that was measured and could not be told from the
  /// champion, a contender, or the champion itself while it is undecided. `no_candidate` if there is none.
  candidate_id next() const {
    if (!challenger_.results.empty()) return challenger_.id;
    if (contender_ != no_candidate) return contender_;
    return wants_more(champion_.id, reign_, champion_.verdict) ? champion_.id : no_candidate;
  }
  /// Whether `next()` may be confirmed now: there is one, and no other confirmation is out.
  bool due() const { return !out_ && next() != no_candidate; }
  /// Whether a candidate has been sent to its confirmation before.
  bool asked_before(candidate_id who) const { return confirmed_.contains(who); }

  /// Takes notice of an ordinary evaluation of a candidate, the latest one. The candidate becomes the
  /// contender if it was timed in full, looks better than the champion, was not confirmed before, and has a
  /// better score in the population than the present contender.
  void offer(candidate_id who, const evaluation& latest, const population& all) {
    if (!worth_confirming(who, latest)) return;
    if (contender_ == no_candidate || all.row(who).score > all.row(contender_).score) contender_ = who;
  }

  /// Takes notice that a valid candidate is the program that speedups are relative to: it is never champion,
  /// and if scores are speedups, no first champion is slower than it.
  void exclude_baseline(candidate_id who, bool scores_are_speedups) {
    if (baseline_twins_.empty()) baseline_twin_ = who;
    baseline_twins_.insert(who);
    if (scores_are_speedups) least_speedup_ = 1;
    if (contender_ == who) contender_ = no_candidate;
  }
  /// The first candidate that is the baseline's program; `no_candidate` if none is known.
  candidate_id baseline_twin() const { return baseline_twin_; }

  /// Sends a candidate to its confirmation: `next()`, or after a stop the contender. There must be one.
  candidate_id begin(bool stopped = false) {
    const candidate_id who = stopped ? contender_ : next();
    if (who == contender_) contender_ = no_candidate;
    out_ = true;
    confirmed_.insert(who);
    return who;
  }

  /// Takes the result of a confirmation. True if there is something new to say of the champion: it is another
  /// one, or the same with figures from more confirmations. The candidate is the new champion if it is valid
  /// and its interval lies above the champion's figure; without speedups, if its score does. An undecided
  /// candidate that may still win waits for further confirmations, but not once the search has stopped. A
  /// valid confirmation that crowns nobody in the end is futile. A champion whose further confirmation is not
  /// valid, or shows it to be slower than the champion before it, gives the place back to that one. Without
  /// one before it, a champion that was convicted (incorrect, rejected, suspect) loses the place, and there
  /// is no champion; one that failed otherwise keeps it as undecided, because the failure may be the
  /// machine's.
  bool finish(candidate_id who, std::shared_ptr<const evaluation> result, bool stopped = false) {
    out_ = false;
    const bool valid = result->valid() && std::isfinite(result->score);
    if (who == champion_.id) return refine(std::move(result), valid);
    if (!valid) {
      if (challenger_.id == who) challenger_ = {};
      return false;
    }
    if (challenger_.id != who) challenger_ = {who, {}};
    challenger_.results.push_back(std::move(result));
    return judge(stopped);
  }

  /// Takes notice that the search has stopped: a challenger that waits for a further confirmation is judged
  /// by those it has. True as for `finish`.
  bool settle() {
    if (out_ || challenger_.results.empty()) return false;
    return judge(true);
  }

  /// Looks for the next contender after a confirmation: the best of those that still look better than the
  /// champion. `latest(id)` gives a candidate's latest evaluation as a pointer, null if there is none. O(log
  /// candidates) for each of the few that were confirmed and stand above.
  template <class Latest>
  void look_for_contender(const population& all, const Latest& latest) {
    contender_ = no_candidate;
    for (std::size_t rank = 0; rank < all.ranked(); ++rank) {
      const candidate_id who = all.nth_best(rank);
      if (!(all.row(who).score > bar())) return;
      const auto known = latest(who);
      if (!known || !worth_confirming(who, *known)) continue;
      contender_ = who;
      return;
    }
  }

  /// Futile confirmations in a row since the last champion or the last call of `forget_futile`.
  int futile() const { return futile_; }
  void forget_futile() { futile_ = 0; }

 private:
  /// A candidate with the results of its confirmations so far.
  struct measured {
    candidate_id id = no_candidate;
    std::vector<std::shared_ptr<const evaluation>> results;
  };

  /// What a contender's score must exceed.
  double bar() const {
    if (!champion_) return least_speedup_;
    return failed() ? least_speedup_ : champion_.score;
  }
  bool failed() const { return champion_.verdict.reason == verdict_reason::failed; }
  bool worth_confirming(candidate_id who, const evaluation& e) const {
    return e.valid() && std::isfinite(e.score) && e.score > bar() &&
           e.stage >= evaluation_stage::timed_full && who != champion_.id && !confirmed_.contains(who) &&
           !baseline_twins_.contains(who);
  }
  /// Whether more samples of a candidate could decide what is undecided.
  bool wants_more(candidate_id who, const measured& so_far, const champion_verdict& verdict) const {
    if (who == no_candidate || verdict.confirmed() || verdict.reason == verdict_reason::failed) return false;
    if (static_cast<int>(so_far.results.size()) >= rules_.looks()) return false;
    // As fast as the baseline, to 1 %: more samples would say the same.
    return who != champion_.id || compare(champion_.speedup_interval) != comparison::same;
  }
  bool beats_champion(const evaluation& e, const champion_verdict& verdict) const {
    if (!champion_ || failed()) return !(e.speedup > 0) || e.speedup > least_speedup_;
    if (!(e.speedup_interval.high > 0)) return e.score > champion_.score;
    if (e.speedup_interval.low > champion_.speedup) return true;
    // What is known is better than what only looks so.
    return verdict.confirmed() && !champion_.verdict.confirmed() && e.speedup > champion_.speedup;
  }

  bool refine(std::shared_ptr<const evaluation> result, bool valid) {
    if (valid) {
      reign_.results.push_back(std::move(result));
      const evaluation sum = pooled(reign_.results, rules_.looks());
      crown(champion_.id, sum, verdict_on(sum, rules_));
    } else {
      if (convicts(result->outcome)) {
        champion_ = {};
        reign_ = {};
      }
      champion_.verdict = {.reason = verdict_reason::failed, .widest = rules_.widest};
    }
    if (predecessor_ && (!valid || champion_.speedup <= predecessor_.speedup)) {
      champion_ = std::exchange(predecessor_, {});
      reign_ = std::exchange(its_reign_, {});
    }
    return true;
  }
  bool judge(bool stopped) {
    const evaluation sum = pooled(challenger_.results, rules_.looks());
    const champion_verdict verdict = verdict_on(sum, rules_);
    const bool beats = beats_champion(sum, verdict);
    const bool may_win = champion_ && sum.score > bar() && wants_more(challenger_.id, challenger_, verdict);
    if (!beats && may_win && !stopped) return false;
    if (beats) {
      // The place is never given back to a champion that failed: nothing says that its figure holds.
      predecessor_ = failed() ? champion() : champion_;
      its_reign_ = failed() ? measured() : std::move(reign_);
      crown(challenger_.id, sum, verdict);
      reign_ = std::move(challenger_);
      futile_ = 0;
    } else {
      ++futile_;
    }
    challenger_ = {};
    return beats;
  }
  void crown(candidate_id who, const evaluation& sum, const champion_verdict& verdict) {
    const auto disturbed = sum.context.find("disturbed");
    champion_ = {.id = who,
                 .score = sum.score,
                 .speedup = sum.speedup,
                 .speedup_interval = sum.speedup_interval,
                 .sol_fraction = sum.sol_fraction,
                 .verdict = verdict,
                 .disturbed = disturbed == sum.context.end() ? std::string() : disturbed->second};
  }

  confirmation_rules rules_;
  champion champion_;
  measured reign_;        ///< of the champion
  champion predecessor_;  ///< the champion before this one
  measured its_reign_;
  measured challenger_;  ///< undecided against the champion; without results: none
  candidate_id contender_ = no_candidate;
  bool out_ = false;
  int futile_ = 0;
  std::unordered_set<candidate_id> confirmed_;  ///< candidates whose confirmation was asked for
  std::unordered_set<candidate_id> baseline_twins_;
  candidate_id baseline_twin_ = no_candidate;
  /// What a first champion must exceed: nothing, or 1 where the baseline itself is a valid candidate.
  double least_speedup_ = -std::numeric_limits<double>::infinity();
};

}  // namespace kevo
