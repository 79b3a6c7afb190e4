#pragma once
// The stop rule `target_speedup`: the champion reaches a confirmed speedup.

#include <optional>
#include <string>
#include <vector>

#include <kevo/stop.hpp>
#include <kevo/stop/text.hpp>

namespace kevo::stop {

/// Stops when a confirmed champion reaches a speedup of `limit`; with `certain`, when its whole confidence
/// interval does, because half of those whose median just reaches a target do not keep it. The figure of an
/// undecided champion counts only as far as its whole interval reaches.
struct target_speedup {
  double limit = 0;
  bool certain = true;

  std::optional<std::string> stop(const progress& now) const {
    if (!(now.best_speedup > 0) || reached(now) < limit) return std::nullopt;
    return "speedup " + number(now.best_speedup) + " of " + number(limit);
  }
  /// How near the champion is; not a budget, but what a display can show.
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
