#pragma once
// A portfolio that makes no assumption about the distribution of rewards: EXP3 (Auer et al., 2002).

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <deque>
#include <span>
#include <vector>

#include <kevo/vary/turns.hpp>

namespace kevo {

/// EXP3 (Auer, Cesa-Bianchi, Freund & Schapire, "The nonstochastic multiarmed bandit problem", SIAM J.
/// Comput. 32, 2002). When an operator that was picked with probability p earns x in [0, 1], its weight is
/// multiplied by exp(gamma * x / (p K)), where K is the number of operators. The next probabilities are
///
///     p = (1 - gamma) * weight / sum of weights + gamma / K
///
/// where the sum and K include available operators only; the others have probability 0. So `gamma` is also
/// the share of uniform exploration. The guarantees of EXP3 hold even if rewards become rarer or come in
/// phases, as they do in a search. x is the reward per second, divided by the greatest one so far (this is
/// kevo's own; the paper has rewards in [0, 1]). Results may come late; they are credited with the p of their
/// pick.
class exp3 {
 public:
  double gamma = 0.1;  ///< share of uniform exploration, and learning rate; in (0, 1]

  std::size_t pick(std::span<const bool> available, rng& random) {
    grow(available.size());
    const auto p = probabilities(available);
    std::size_t chosen = random.weighted(p);
    pending_[chosen].push_back(p[chosen]);
    statistics_.start(chosen);
    return chosen;
  }

  void observe(const operator_turn& turn) {
    statistics_.end(turn);
    grow(statistics_.size());
    auto& mine = pending_[turn.index];
    const auto count = static_cast<double>(statistics_.size());
    double p = 1 / count;  // for a turn that this object did not pick
    if (!mine.empty()) p = mine.front(), mine.pop_front();
    total_cost_ += turn.cost_s;
    ++turns_;
    const double least = total_cost_ > 0 ? 1e-3 * total_cost_ / turns_ : 1;
    const double value = std::max(turn.reward, 0.0) / std::max(turn.cost_s, least);
    if (!(value > 0)) return;
    greatest_ = std::max(greatest_, value);
    log_weight_[turn.index] += gamma * (value / greatest_) / (p * count);
    const double top = *std::max_element(log_weight_.begin(), log_weight_.end());
    for (double& w : log_weight_) w -= top;
  }

  /// The probabilities if all operators were available.
  std::vector<operator_credit> credits() const {
    auto credits = statistics_.credits();
    const std::deque<bool> all(credits.size(), true);
    const auto p = probabilities(all);
    for (std::size_t i = 0; i < credits.size(); ++i) credits[i].probability = p[i];
    return credits;
  }

 private:
  void grow(std::size_t operators) {
    statistics_.resize(operators);
    if (log_weight_.size() < operators) log_weight_.resize(operators);
    if (pending_.size() < operators) pending_.resize(operators);
  }

  template <class Flags>
  std::vector<double> probabilities(const Flags& available) const {
    double count = 0, sum = 0, top = -INFINITY;
    for (std::size_t i = 0; i < available.size(); ++i) {
      if (available[i]) top = std::max(top, log_weight_[i]), ++count;
    }
    std::vector<double> p(available.size());
    for (std::size_t i = 0; i < p.size(); ++i) {
      if (available[i]) sum += p[i] = std::exp(log_weight_[i] - top);
    }
    for (std::size_t i = 0; i < p.size(); ++i) {
      if (available[i]) p[i] = (1 - gamma) * p[i] / sum + gamma / count;
    }
    return p;
  }

  turn_statistics statistics_;
  std::vector<double> log_weight_;
  // For each operator: the p of its picks that have no result yet, oldest first.
  std::vector<std::deque<double>> pending_;
  double greatest_ = 0;
  double total_cost_ = 0;
  double turns_ = 0;
};

}  // namespace kevo
