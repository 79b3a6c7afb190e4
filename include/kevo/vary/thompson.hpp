#pragma once
// A portfolio that picks each operator with the estimated probability that it is the best: Thompson sampling
// (Thompson, 1933; Chapelle & Li, 2011).

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include <kevo/vary/turns.hpp>

namespace kevo {

/// Thompson sampling (Thompson 1933; Chapelle & Li, "An empirical evaluation of Thompson sampling", NIPS
/// 2011). A turn is a success if its reward is positive. For each operator a success rate is drawn from
/// Beta(1 + successes, 1 + failures), and the operator with the greatest value of rate * mean reward of a
/// success / mean cost is picked. The division by the cost follows budgeted Thompson sampling (Xia et al.,
/// IJCAI 2015). Two rules are kevo's own: for an operator without a success so far, the greatest mean reward
/// of a success of the others is used; and the probability of each available operator is at least `floor`.
class thompson {
 public:
  double floor = 0.05;  ///< minimum probability of each available operator; limited to an equal share

  std::size_t pick(std::span<const bool> available, rng& random) {
    statistics_.resize(available.size());
    successes_.resize(std::max(successes_.size(), available.size()));
    const auto choices = indices_of(available);
    if (random.chance(floor * static_cast<double>(choices.size()))) {
      return started(choices[random.below(choices.size())]);
    }
    const auto gains = gains_of_success();
    std::size_t best = choices.front();
    double best_value = -1;
    for (const std::size_t i : choices) {
      const double value = beta(1 + successes_[i], 1 + failures(i), random) * gains[i];
      if (value > best_value) best = i, best_value = value;
    }
    return started(best);
  }

  void observe(const operator_turn& turn) {
    statistics_.end(turn);
    successes_.resize(std::max(successes_.size(), statistics_.size()));
    successes_[turn.index] += turn.reward > 0 ? 1 : 0;
  }

  /// `probability` is the share of an operator in the sum of the expected values of all operators, not the
  /// probability of its being picked next.
  std::vector<operator_credit> credits() const {
    auto credits = statistics_.credits();
    const auto gains = gains_of_success();
    double total = 0;
    for (std::size_t i = 0; i < credits.size(); ++i) {
      credits[i].probability = (1 + successes_[i]) / (2 + statistics_[i].ended) * gains[i];
      total += credits[i].probability;
    }
    for (auto& c : credits) c.probability /= total;
    return credits;
  }

 private:
  std::size_t started(std::size_t index) {
    statistics_.start(index);
    return index;
  }
  double failures(std::size_t i) const { return statistics_[i].ended - successes_[i]; }

  /// For each operator: mean reward of a success, divided by the mean cost of a turn. Only the ratios of the
  /// values have a meaning.
  std::vector<double> gains_of_success() const {
    double turns = 0, cost = 0, most = 0;
    for (std::size_t i = 0; i < statistics_.size(); ++i) {
      turns += statistics_[i].ended;
      cost += statistics_[i].cost_s;
      if (successes_[i] > 0) most = std::max(most, statistics_[i].reward / successes_[i]);
    }
    const double mean_cost = turns > 0 && cost > 0 ? cost / turns : 1;
    std::vector<double> gains;
    for (std::size_t i = 0; i < statistics_.size(); ++i) {
      const double reward = successes_[i] > 0 ? statistics_[i].reward / successes_[i] : most > 0 ? most : 1;
      const double price =
          statistics_[i].ended > 0 ? std::max(statistics_[i].mean_cost_s(), 1e-3 * mean_cost) : mean_cost;
      gains.push_back(reward / price);
    }
    return gains;
  }

  /// Gamma(shape, 1) for shape >= 1 (Marsaglia & Tsang, ACM TOMS 26(3), 2000).
  static double gamma(double shape, rng& random) {
    const double d = shape - 1.0 / 3.0;
    const double c = 1 / std::sqrt(9 * d);
    for (;;) {
      const double x = random.normal();
      const double v = (1 + c * x) * (1 + c * x) * (1 + c * x);
      if (v > 0 && std::log(1 - random.uniform()) < 0.5 * x * x + d * (1 - v + std::log(v))) return d * v;
    }
  }
  static double beta(double a, double b, rng& random) {
    const double x = gamma(a, random);
    return x / (x + gamma(b, random));
  }

  turn_statistics statistics_;
  std::vector<double> successes_;
};

}  // namespace kevo
