#pragma once
// A portfolio with a fixed probability for each operator, as some published systems state them.

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include <kevo/vary/turns.hpp>

namespace kevo {

/// The probability of each available operator is proportional to its weight. If all available operators have
/// weight 0, their probabilities are equal.
class fixed_portfolio {
 public:
  /// `weights` are in the order of the operators; an operator without a weight has weight 1.
  explicit fixed_portfolio(std::vector<double> weights = {}) : weights_(std::move(weights)) {}

  std::size_t pick(std::span<const bool> available, rng& random) {
    statistics_.resize(available.size());
    std::vector<double> weights(available.size());
    double sum = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) sum += weights[i] = available[i] ? weight_of(i) : 0;
    if (sum <= 0) {
      for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = available[i] ? 1 : 0;
    }
    const std::size_t chosen = random.weighted(weights);
    statistics_.start(chosen);
    return chosen;
  }
  void observe(const operator_turn& turn) { statistics_.end(turn); }
  std::vector<operator_credit> credits() const {
    auto credits = statistics_.credits();
    double sum = 0;
    for (std::size_t i = 0; i < credits.size(); ++i) sum += weight_of(i);
    for (std::size_t i = 0; i < credits.size(); ++i)
      credits[i].probability = sum > 0 ? weight_of(i) / sum : 1.0 / static_cast<double>(credits.size());
    return credits;
  }

 private:
  double weight_of(std::size_t i) const { return i < weights_.size() ? weights_[i] : 1; }

  std::vector<double> weights_;
  turn_statistics statistics_;
};

}  // namespace kevo
