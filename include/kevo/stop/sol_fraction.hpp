#pragma once
// The stop rule `sol_fraction`: the champion comes near the speed of light, the roofline limit of the device.

#include <optional>
#include <string>
#include <vector>

#include <kevo/stop.hpp>
#include <kevo/stop/text.hpp>

namespace kevo::stop {

/// Stops when the champion's speed-of-light fraction, the smallest over the visible workloads, reaches
/// `limit`, in (0, 1]: the possible gain is then too small for a further search (uCUTLASS's headroom rule).
/// Never stops if the task has no cost model, or while the champion is undecided.
struct sol_fraction {
  double limit = 0.9;  ///< speed-of-light fraction, in (0, 1]

  std::optional<std::string> stop(const progress& now) const {
    if (now.best_undecided || !(now.best_sol_fraction > 0) || now.best_sol_fraction < limit)
      return std::nullopt;
    return "speed-of-light fraction " + number(now.best_sol_fraction) + " of " + number(limit);
  }
  std::optional<double> used(const progress& now) const { return share(now.best_sol_fraction, limit); }
  std::vector<stop_part> parts(const progress& now) const {
    return one_part("sol_fraction", now.best_sol_fraction, limit);
  }
};

}  // namespace kevo::stop
