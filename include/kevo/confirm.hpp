#pragma once
// Confirmation: the protocol that decides which candidate is the champion. A candidate that looks better than
// the champion is measured again, alone and in full, before it replaces the champion. The maximum of noisy
// measurements is biased upwards, so the figures of a champion come from its confirmations only.

#include <algorithm>
#include <cmath>
#include <cstdint>
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

/// The best confirmed candidate. Its figures are pooled from all its confirmations (evaluate/pooled.hpp).
struct champion {
  candidate_id id = no_candidate;
  double score = 0;           ///< meaningless while there is no champion
  double speedup = 0;         ///< 0 if the fitness function compares with no baseline
  interval speedup_interval;  ///< confidence interval of `speedup`
  double sol_fraction = 0;    ///< smallest speed-of-light fraction over the visible workloads; 0 if unknown
  champion_verdict verdict;   ///< whether the speedup is confirmed or undecided
  /// A sentence of the fitness function about other load on the machine during the measurement; empty if
  /// there was none.
  std::string disturbed;

  /// Whether there is a champion.
  explicit operator bool() const { return id != no_candidate; }
  /// A conservative speedup: the speedup if it is confirmed, otherwise the lower end of its interval, at
  /// least 0.
  double sure_speedup() const { return verdict.confirmed() ? speedup : std::max(0.0, speedup_interval.low); }
};

/// Chooses the candidates that are confirmed, and keeps the champion. A search passes it every result and
/// asks it for the next candidate to confirm.
///
/// Terms: a *contender* looks better than the champion in its ordinary evaluation and waits for its first
/// confirmation. A *challenger* was confirmed, but its result does not yet decide whether it beats the
/// champion.
///
/// Only one confirmation runs at a time, that of the best contender: most candidates that beat an old
/// champion are themselves beaten before their confirmation could begin. A candidate is confirmed once. While
/// it is undecided and could be champion, it is confirmed up to `confirmation_rules::further` more times, and
/// all its confirmations are pooled. This class is a copyable value. It does not use time, threads or random
/// numbers.
class confirmation {
 public:
  confirmation() = default;
  explicit confirmation(confirmation_rules rules) : rules_(rules) {}

  /// The rules that were given to the constructor.
  const confirmation_rules& rules() const { return rules_; }
  /// The champion; its `id` is `no_candidate` while there is none.
  const champion& best() const { return champion_; }
  /// The contender: the next candidate to be confirmed for the first time; `no_candidate` if there is none.
  candidate_id contender() const { return contender_; }
  /// The next candidate to be confirmed: the challenger if there is one, else the contender, else the
  /// champion if it is undecided and further measurements could decide. `no_candidate` if there is none.
  candidate_id next() const {
    if (!challenger_.results.empty()) return challenger_.id;
    if (contender_ != no_candidate) return contender_;
    return wants_more(champion_.id, champion_results_, champion_.verdict) ? champion_.id : no_candidate;
  }
  /// Whether `next()` may be confirmed now: there is one, no other confirmation is running, and it has waited
  /// as long as `confirmation_rules::after` says. `idle`: there is nothing else to evaluate, so that nothing
  /// waits.
  bool due(bool idle = false) const {
    if (running_ || next() == no_candidate) return false;
    return idle || (!champion_ && challenger_.results.empty()) || has_waited();
  }
  /// Whether a candidate that may become champion waits for a confirmation.
  bool holds_contender() const { return contender_ != no_candidate || !challenger_.results.empty(); }
  /// Whether a confirmation of the candidate has begun before.
  bool asked_before(candidate_id who) const { return confirmed_.contains(who); }

  /// Counts an evaluation that has finished and is no confirmation.
  void count_evaluation() { ++evaluations_; }

  /// Records the latest ordinary evaluation of a candidate. The candidate becomes the contender if it was
  /// timed in full, looks better than the champion, was not confirmed before, and has a better score in the
  /// population than the present contender.
  void offer(candidate_id who, const evaluation& latest, const population& all) {
    if (!worth_confirming(who, latest)) return;
    if (contender_ == no_candidate) {
      waits_since_ = evaluations_;
    } else if (!(all.row(who).score > all.row(contender_).score)) {
      return;
    }
    contender_ = who;
    leads_since_ = evaluations_;
  }

  /// Records that a valid candidate is the program of the baseline. It never becomes champion. If scores are
  /// speedups, the first champion must be faster than it.
  void exclude_baseline(candidate_id who, bool scores_are_speedups) {
    if (baseline_duplicates_.empty()) baseline_duplicate_ = who;
    baseline_duplicates_.insert(who);
    if (scores_are_speedups) least_speedup_ = 1;
    if (contender_ == who) contender_ = no_candidate;
  }
  /// The first candidate that was found to be the program of the baseline; `no_candidate` if none is known.
  candidate_id baseline_duplicate() const { return baseline_duplicate_; }

  /// Begins a confirmation and returns its candidate: `next()`, or the contender if the search has stopped.
  /// There must be one.
  candidate_id begin(bool stopped = false) {
    const candidate_id who = stopped ? contender_ : next();
    if (who == contender_) contender_ = no_candidate;
    running_ = true;
    confirmed_.insert(who);
    return who;
  }

  /// Takes the result of a confirmation. Returns true if the champion has changed, or its figures have.
  ///
  /// A candidate becomes champion if its result is valid and one of these is true:
  ///   - Its interval lies above the champion's speedup. Without an interval: its score is higher.
  ///   - Its speedup is confirmed, and higher than that of an undecided champion.
  ///   - There is no champion, or its verdict is `failed`, and the candidate is faster than the baseline.
  ///     (The last condition applies only if the baseline itself is a valid candidate.)
  ///
  /// If that is not so, but further measurements could show it, the candidate stays challenger and waits for
  /// further confirmations, unless the search has stopped. A candidate that is valid but in the end does not
  /// become champion counts as a futile confirmation. A candidate whose confirmation is not valid is dropped.
  ///
  /// If a further confirmation of the champion is not valid, or makes it no faster than the previous
  /// champion, the previous champion takes its place again. If there is no previous champion, then after an
  /// incorrect, rejected or suspect result there is no champion; after another failure the champion stays,
  /// with the verdict `failed`, because the machine may have caused that failure.
  bool finish(candidate_id who, std::shared_ptr<const evaluation> result, bool stopped = false) {
    running_ = false;
    finished_at_ = evaluations_;
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

  /// Records that the search has stopped: a challenger that waits for a further confirmation is judged by the
  /// confirmations that it has. Returns the same as `finish`.
  bool settle() {
    if (running_ || challenger_.results.empty()) return false;
    return judge(true);
  }

  /// Chooses the next contender after a confirmation: the best candidate that looks better than the champion
  /// and was not confirmed before. `latest(id)` returns a pointer to a candidate's latest evaluation, null if
  /// there is none. O(log n) for n candidates, for each candidate that is passed over because it cannot be a
  /// contender; these are few.
  template <class Latest>
  void look_for_contender(const population& all, const Latest& latest) {
    const candidate_id before = std::exchange(contender_, no_candidate);
    for (std::size_t rank = 0; rank < all.ranked(); ++rank) {
      const candidate_id who = all.nth_best(rank);
      if (!(all.row(who).score > bar())) return;
      const auto known = latest(who);
      if (!known || !worth_confirming(who, *known)) continue;
      contender_ = who;
      if (who != before) waits_since_ = leads_since_ = 0;  // it was found long ago and has waited
      return;
    }
  }

  /// The number of futile confirmations since the last new champion or the last call of `forget_futile`.
  int futile() const { return futile_; }
  /// Sets that number to 0.
  void forget_futile() { futile_ = 0; }

 private:
  /// A candidate with the results of its confirmations so far.
  struct measured {
    candidate_id id = no_candidate;
    std::vector<std::shared_ptr<const evaluation>> results;
  };

  /// The score that a contender must exceed.
  double bar() const {
    if (!champion_) return least_speedup_;
    return failed() ? least_speedup_ : champion_.score;
  }
  // After futile confirmations, what looks best is probably the largest of many similar figures with noise.
  bool has_waited() const {
    constexpr int maximum = 7;
    const auto after =
        static_cast<std::uint64_t>(std::max(0, rules_.after) * (1 + std::min(futile_, maximum)));
    if (!challenger_.results.empty() || contender_ == no_candidate)
      return evaluations_ - finished_at_ >= after;
    return evaluations_ - leads_since_ >= after || evaluations_ - waits_since_ >= 4 * after;
  }
  bool failed() const { return champion_.verdict.reason == verdict_reason::failed; }
  bool worth_confirming(candidate_id who, const evaluation& e) const {
    return e.valid() && std::isfinite(e.score) && e.score > bar() &&
           e.stage >= evaluation_stage::timed_full && who != champion_.id && !confirmed_.contains(who) &&
           !baseline_duplicates_.contains(who);
  }
  /// Whether an undecided candidate may be confirmed again, and further measurements could decide.
  bool wants_more(candidate_id who, const measured& so_far, const champion_verdict& verdict) const {
    if (who == no_candidate || verdict.confirmed() || verdict.reason == verdict_reason::failed) return false;
    if (static_cast<int>(so_far.results.size()) >= rules_.looks()) return false;
    // The champion is as fast as the baseline, within 1 %: further measurements would not change that.
    return who != champion_.id || compare(champion_.speedup_interval) != comparison::same;
  }
  bool beats_champion(const evaluation& e, const champion_verdict& verdict) const {
    if (!champion_ || failed()) return !(e.speedup > 0) || e.speedup > least_speedup_;
    if (!(e.speedup_interval.high > 0)) return e.score > champion_.score;
    if (e.speedup_interval.low > champion_.speedup) return true;
    // A confirmed speedup is preferred to an undecided one.
    return verdict.confirmed() && !champion_.verdict.confirmed() && e.speedup > champion_.speedup;
  }

  bool refine(std::shared_ptr<const evaluation> result, bool valid) {
    if (valid) {
      champion_results_.results.push_back(std::move(result));
      const evaluation sum = pooled(champion_results_.results, rules_.looks());
      crown(champion_.id, sum, verdict_on(sum, rules_));
    } else {
      if (disqualifies(result->outcome)) {
        champion_ = {};
        champion_results_ = {};
      }
      champion_.verdict = {.reason = verdict_reason::failed, .widest = rules_.widest};
    }
    if (predecessor_ && (!valid || champion_.speedup <= predecessor_.speedup)) {
      champion_ = std::exchange(predecessor_, {});
      champion_results_ = std::exchange(predecessor_results_, {});
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
      // A champion that failed is not kept as the previous one: its figures may not hold.
      predecessor_ = failed() ? champion() : champion_;
      predecessor_results_ = failed() ? measured() : std::move(champion_results_);
      crown(challenger_.id, sum, verdict);
      champion_results_ = std::move(challenger_);
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
  measured champion_results_;     ///< confirmations of the champion
  champion predecessor_;          ///< the previous champion
  measured predecessor_results_;  ///< confirmations of the previous champion
  measured challenger_;           ///< no results: there is no challenger
  candidate_id contender_ = no_candidate;
  std::uint64_t evaluations_ = 0;  ///< finished, confirmations not counted
  std::uint64_t leads_since_ = 0;  ///< value of `evaluations_` when the contender became contender
  std::uint64_t waits_since_ = 0;  ///< the same of the first of the contenders that replaced each other
  std::uint64_t finished_at_ = 0;  ///< the same of the last confirmation that has finished
  bool running_ = false;           ///< whether a confirmation is running
  int futile_ = 0;
  std::unordered_set<candidate_id> confirmed_;            ///< candidates whose first confirmation has begun
  std::unordered_set<candidate_id> baseline_duplicates_;  ///< candidates that are the program of the baseline
  candidate_id baseline_duplicate_ = no_candidate;        ///< the first of them
  /// The speedup that the first champion must exceed: 1 if the baseline itself is a valid candidate,
  /// otherwise no limit.
  double least_speedup_ = -std::numeric_limits<double>::infinity();
};

}  // namespace kevo
