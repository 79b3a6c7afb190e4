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
    book_.resize(available.size());
    const auto choices = indices_of(available);
    const std::size_t chosen = choices[random.below(choices.size())];
    book_.start(chosen);
    return chosen;
  }
  void observe(const operator_turn& turn) { book_.end(turn); }
  std::vector<operator_credit> credits() const {
    auto credits = book_.credits();
    for (auto& c : credits) c.probability = 1.0 / static_cast<double>(credits.size());
    return credits;
  }

 private:
  turn_book book_;
};

}  // namespace kevo
