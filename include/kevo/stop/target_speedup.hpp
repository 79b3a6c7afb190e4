#pragma once
// The stop rule `target_speedup`: the champion reaches a confirmed speedup.

#include <optional>
#include <string>
#include <vector>

#include <kevo/stop.hpp>
#include <kevo/stop/text.hpp>

namespace kevo::stop {

/// Stops when the champion's confirmed speedup reaches `limit`. With `certain`, or if the champion is
/// undecided, the whole confidence interval must reach it: half of the champions whose median just reaches a
/// target would not reach it when measured again.
struct target_speedup {
  double limit = 0;     ///< speedup to reach
  bool certain = true;  ///< whether the whole confidence interval must reach the limit

  std::optional<std::string> stop(const progress& now) const {
    if (!(now.best_speedup > 0) || reached(now) < limit) return std::nullopt;
    return "speedup " + number(now.best_speedup) + " of " + number(limit);
  }
  /// The champion's speedup as a share of the target, for displays; it is not a budget.
  std::optional<double> used(const progress& now) const { return share(reached(now), limit); }
  std::vector<stop_part> parts(const progress& now) const {
    return one_part("target_speedup", reached(now), limit);
  }

 private:
  double reached(const progress& now) const {
    return certain || now.best_undecided ? now.best_interval.low : now.best_speedup;
  }
};

}  // namespace kevo::stop
