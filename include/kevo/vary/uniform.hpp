#pragma once
// A portfolio that gives all operators the same probability. It is the baseline for portfolios that learn.

#include <cstddef>
#include <span>
#include <vector>

#include <kevo/vary/turns.hpp>

namespace kevo {

/// All available operators have the same probability.
class uniform_portfolio {
 public:
  std::size_t pick(std::span<const bool> available, rng& random) {
    statistics_.resize(available.size());
    const auto choices = indices_of(available);
    const std::size_t chosen = choices[random.below(choices.size())];
    statistics_.start(chosen);
    return chosen;
  }
  void observe(const operator_turn& turn) { statistics_.end(turn); }
  std::vector<operator_credit> credits() const {
    auto credits = statistics_.credits();
    for (auto& c : credits) c.probability = 1.0 / static_cast<double>(credits.size());
    return credits;
  }

 private:
  turn_statistics statistics_;
};

}  // namespace kevo
