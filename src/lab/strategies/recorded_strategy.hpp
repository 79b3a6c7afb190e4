#pragma once
// Published search strategies as a variation operator on a recorded space.

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <kevo/lab/recorded_moves.hpp>

#include "src/lab/strategies/trial.hpp"

namespace kevo {

/// A strategy of other tuners.
struct published_strategy {
  std::string_view name;
  std::string_view about;
  void (*search)(strategies::trial& on, rng& random);
};
std::span<const published_strategy> published_strategies();

/// Proposes what the strategy evaluates, in its order. What a strategy asks next depends only on the recorded
/// values of what it has asked for, so the whole search is made at the first turn. One value serves one
/// search.
struct recorded_strategy {
  std::shared_ptr<const recorded_space> space;
  const published_strategy* strategy = nullptr;
  std::size_t evaluations = 1000;  ///< the longest search

  std::string name() const { return "recorded_strategy"; }
  bool repairs() const { return true; }
  variation_result vary(const variation_request& request, rng& random) {
    if (planned_.empty()) {
      strategies::trial on(*space, evaluations);
      strategy->search(on, random);
      planned_ = on.asked();
    }
    while (next_ < planned_.size()) {
      const auto& setting = space->at(planned_[next_++]).setting;
      if (auto made = detail::proposal_in(*space, request, setting, "strategy")) return *std::move(made);
    }
    return no_proposal{"the strategy has ended", true};
  }

 private:
  std::vector<std::size_t> planned_;
  std::size_t next_ = 0;
};

}  // namespace kevo
