#pragma once
// The stop rule `target_score`: the champion reaches a score. For fitness functions that report no speedup.

#include <optional>
#include <string>
#include <vector>

#include <kevo/stop.hpp>
#include <kevo/stop/text.hpp>

namespace kevo::stop {

/// Stops when the champion's score by its confirmations reaches `limit`, any finite number.
struct target_score {
  double limit = 0;  ///< score to reach

  std::optional<std::string> stop(const progress& now) const {
    if (!now.champion_score || *now.champion_score < limit) return std::nullopt;
    return "score " + number(*now.champion_score) + " of " + number(limit);
  }
  /// The champion's score as a share of the target, for displays; it is not a budget. Nothing if the target
  /// is not positive, because a share of it has no meaning.
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
