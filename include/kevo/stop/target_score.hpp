#pragma once
// The stop rule `target_score`: the champion reaches a score, for fitness functions that give no speedup.

#include <optional>
#include <string>
#include <vector>

#include <kevo/stop.hpp>
#include <kevo/stop/text.hpp>

namespace kevo::stop {

/// Stops when a confirmed champion reaches a score of `limit`, any finite number.
struct target_score {
  double limit = 0;

  std::optional<std::string> stop(const progress& now) const {
    if (!now.champion_score || *now.champion_score < limit) return std::nullopt;
    return "score " + number(*now.champion_score) + " of " + number(limit);
  }
  /// How near the champion is; not a budget, but what a display can show. Nothing for a target of 0 or below,
  /// of which there are no shares.
  std::optional<double> used(const progress& now) const {
    if (!(limit > 0)) return std::nullopt;
    return share(now.champion_score.value_or(0), limit);
  }
  std::vector<stop_part> parts(const progress& now) const {
    if (!(limit > 0)) return {};
    return one_part("target_score", now.champion_score.value_or(0), limit);
  }
};

}  // namespace kevo::stop
