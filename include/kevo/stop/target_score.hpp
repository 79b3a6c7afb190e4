#pragma once
// Good enough, where the fitness function gives scores of its own and no speedups.

#include <optional>
#include <string>

#include <kevo/stop.hpp>
#include <kevo/stop/text.hpp>

namespace kevo::stop {

/// Stops when a confirmed champion reaches a score of `limit`.
struct target_score {
  double limit = 0;

  std::optional<std::string> stop(const progress& now) const {
    if (!(now.champion_score > 0) || now.champion_score < limit) return std::nullopt;
    return "score " + number(now.champion_score) + " of " + number(limit);
  }
  /// How near the champion is; not a budget, but what a display can show.
  std::optional<double> used(const progress& now) const { return share(now.champion_score, limit); }
};

}  // namespace kevo::stop
