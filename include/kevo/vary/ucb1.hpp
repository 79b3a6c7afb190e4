#pragma once
// A portfolio that picks the operator with the greatest upper confidence bound of its merit: UCB1 (Auer et
// al., 2002).

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include <kevo/vary/turns.hpp>

namespace kevo {

/// UCB1 (Auer, Cesa-Bianchi & Fischer, "Finite-time analysis of the multiarmed bandit problem", Machine
/// Learning 47, 2002), applied to improvement per cost: picks the operator with the greatest
///
///     merit + exploration * sqrt(2 ln N / n)
///
/// where merit in [0, 1] is its reward per second divided by that of the best operator, n is the number of
/// its turns, and N is the number of all turns (ShinkaEvolve credits its models by gain per cost in the same
/// way). Untried operators come first. Two rules are kevo's own: n includes turns that are not finished,
/// because results arrive late and several turns run at once; and every available operator keeps a
/// probability of at least `floor`, because rewards become rarer as a search proceeds.
class ucb1 {
 public:
  /// Weight of the confidence term; 1 is the published value, a smaller value explores less.
  double exploration = 1.0;
  double floor = 0.05;  ///< minimum probability of each available operator; limited to an equal share

  std::size_t pick(std::span<const bool> available, rng& random) {
    statistics_.resize(available.size());
    const auto choices = indices_of(available);
    const bool explore = random.chance(floor * static_cast<double>(choices.size()));
    const std::size_t chosen = explore ? choices[random.below(choices.size())] : best(choices);
    statistics_.start(chosen);
    return chosen;
  }

  void observe(const operator_turn& turn) { statistics_.end(turn); }

  /// The probabilities if all operators were available.
  std::vector<operator_credit> credits() const {
    auto credits = statistics_.credits();
    if (credits.empty()) return credits;
    const double least = std::min(floor, 1.0 / static_cast<double>(credits.size()));
    for (auto& c : credits) c.probability = least;
    std::vector<std::size_t> all(credits.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    credits[best(all)].probability += 1.0 - least * static_cast<double>(credits.size());
    return credits;
  }

 private:
  /// The first untried one of `choices`, else the one with the greatest bound; the first of equal ones.
  std::size_t best(const std::vector<std::size_t>& choices) const {
    double turns = 0;
    for (std::size_t i = 0; i < statistics_.size(); ++i) turns += statistics_[i].started;
    const auto merits = statistics_.merits();
    std::size_t best = choices.front();
    double best_score = -1;
    for (const std::size_t i : choices) {
      if (statistics_[i].started == 0) return i;
      const double score = merits[i] + exploration * std::sqrt(2 * std::log(turns) / statistics_[i].started);
      if (score > best_score) best = i, best_score = score;
    }
    return best;
  }

  turn_statistics statistics_;
};

}  // namespace kevo
