#pragma once
// Who may be champion: the protocol by which a candidate that looks better than the champion is measured once
// more, by itself and in full, before it takes the champion's place. Selection by noisy maxima flatters, so
// the figures of a champion come from its confirmation alone.

#include <cmath>
#include <unordered_set>

#include <kevo/candidate.hpp>
#include <kevo/evaluation.hpp>
#include <kevo/population.hpp>

namespace kevo {

/// The best confirmed candidate. Its figures are those of its confirmation.
struct champion {
  candidate_id id = no_candidate;
  double score = 0;    ///< meaningless while there is no champion
  double speedup = 0;  ///< 0 if the fitness function compares with no baseline
  interval speedup_interval;
  double sol_fraction = 0;  ///< 0 if unknown

  explicit operator bool() const { return id != no_candidate; }
};

/// One confirmation at a time, of the best contender: most of those that beat an old champion for a moment
/// are beaten themselves while they wait. Every candidate is confirmed once at most. A value without time,
/// threads or random numbers; a search tells it every result and asks it for the next candidate to confirm.
class confirmation {
 public:
  const champion& best() const { return champion_; }
  /// The candidate that is to be confirmed next; `no_candidate` if there is none.
  candidate_id contender() const { return contender_; }
  /// Whether the contender may be confirmed now: there is one, and no other confirmation is out.
  bool due() const { return contender_ != no_candidate && !out_; }

  /// Takes notice of an ordinary evaluation of a candidate, the latest one. The candidate becomes the
  /// contender if it was timed in full, looks better than the champion, was not confirmed before, and has a
  /// better score in the population than the present contender.
  void offer(candidate_id who, const evaluation& latest, const population& all) {
    if (!worth_confirming(who, latest)) return;
    if (contender_ == no_candidate || all.row(who).score > all.row(contender_).score) contender_ = who;
  }

  /// Sends the contender to its confirmation. There must be one.
  candidate_id begin() {
    const candidate_id who = contender_;
    contender_ = no_candidate;
    out_ = true;
    confirmed_.insert(who);
    return who;
  }

  /// Takes the result of a confirmation. True if the candidate is the new champion: it is valid, and its
  /// interval lies above the champion's figure; without speedups, its score does. A confirmation that is
  /// valid and crowns nobody is futile.
  bool finish(candidate_id who, const evaluation& e) {
    out_ = false;
    if (!e.valid() || !std::isfinite(e.score)) return false;
    if (champion_ && !beats_champion(e)) {
      ++futile_;
      return false;
    }
    futile_ = 0;
    champion_ = {who, e.score, e.speedup, e.speedup_interval, e.sol_fraction};
    return true;
  }

  /// Looks for the next contender after a confirmation: the best of those that still look better than the
  /// champion. `latest(id)` gives a candidate's latest evaluation as a pointer, null if there is none. O(log
  /// candidates) for each of the few that were confirmed and stand above.
  template <class Latest>
  void look_for_contender(const population& all, const Latest& latest) {
    contender_ = no_candidate;
    for (std::size_t rank = 0; rank < all.ranked(); ++rank) {
      const candidate_id who = all.nth_best(rank);
      if (champion_ && !(all.row(who).score > champion_.score)) return;
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
  bool worth_confirming(candidate_id who, const evaluation& e) const {
    const bool looks_better = champion_ ? e.score > champion_.score : std::isfinite(e.score);
    return e.valid() && looks_better && e.stage >= evaluation_stage::timed_full && who != champion_.id &&
           !confirmed_.contains(who);
  }
  bool beats_champion(const evaluation& e) const {
    return e.speedup_interval.high > 0 ? e.speedup_interval.low > champion_.speedup
                                       : e.score > champion_.score;
  }

  champion champion_;
  candidate_id contender_ = no_candidate;
  bool out_ = false;
  int futile_ = 0;
  std::unordered_set<candidate_id> confirmed_;  ///< candidates whose confirmation was asked for
};

}  // namespace kevo
