#pragma once
// A portfolio that prefers the operator with the best recent reward per second: adaptive pursuit (Thierens,
// 2005).

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include <kevo/vary/turns.hpp>

namespace kevo {

/// Adaptive pursuit (Thierens, "An adaptive pursuit strategy for allocating operator probabilities", GECCO
/// 2005, with its alpha = beta = 0.8). The quality q of an operator follows its rewards: q += alpha (r - q),
/// where r is the reward per second. After each turn the probability of the operator with the greatest
/// quality rises, p += beta (p_max - p), and the others fall, p += beta (p_min - p). The lowest probability
/// p_min is `floor`, and p_max is 1 minus the sum of the other minima. Until a quality is positive, the
/// probabilities do not change. The method is made for searches in which the best operator changes; if it
/// does not, the choice is noisier than that of UCB1.
class adaptive_pursuit {
 public:
  double alpha = 0.8;   ///< learning rate of the quality estimates
  double beta = 0.8;    ///< learning rate of the probabilities
  double floor = 0.05;  ///< minimum probability of each operator; limited to an equal share

  std::size_t pick(std::span<const bool> available, rng& random) {
    grow(available.size());
    std::vector<double> weights(probability_);
    for (std::size_t i = 0; i < available.size(); ++i) weights[i] = available[i] ? probability_[i] : 0;
    const std::size_t chosen = random.weighted(weights);
    statistics_.start(chosen);
    return chosen;
  }

  void observe(const operator_turn& turn) {
    statistics_.end(turn);
    grow(statistics_.size());
    total_cost_ += turn.cost_s;
    ++turns_;
    const double least = total_cost_ > 0 ? 1e-3 * total_cost_ / turns_ : 1;
    double& quality = quality_[turn.index];
    quality += alpha * (turn.reward / std::max(turn.cost_s, least) - quality);
    const auto best =
        static_cast<std::size_t>(std::max_element(quality_.begin(), quality_.end()) - quality_.begin());
    if (!(quality_[best] > 0)) return;
    const auto count = static_cast<double>(probability_.size());
    const double least_p = std::min(floor, 1 / count);
    for (std::size_t i = 0; i < probability_.size(); ++i) {
      const double goal = i == best ? 1 - (count - 1) * least_p : least_p;
      probability_[i] += beta * (goal - probability_[i]);
    }
  }

  std::vector<operator_credit> credits() const {
    auto credits = statistics_.credits();
    for (std::size_t i = 0; i < credits.size(); ++i) credits[i].probability = probability_[i];
    return credits;
  }

 private:
  void grow(std::size_t operators) {
    statistics_.resize(operators);
    if (probability_.size() >= operators) return;
    quality_.resize(operators);
    probability_.assign(operators, 1 / static_cast<double>(operators));
  }

  turn_statistics statistics_;
  std::vector<double> quality_;
  std::vector<double> probability_;
  double total_cost_ = 0;
  double turns_ = 0;
};

}  // namespace kevo
