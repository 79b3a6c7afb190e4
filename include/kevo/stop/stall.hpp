#pragma once
// The stop rule `stall`: the best score has not improved for a number of evaluations.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <kevo/stop.hpp>
#include <kevo/stop/text.hpp>

namespace kevo::stop {

/// Stops when the best score has not risen for `limit` evaluations (pagmo2 has been asked for one in its
/// issue 424; KernelEvolve and AVO stop or change course on it).
struct stall {
  std::uint64_t limit = 0;

  std::optional<std::string> stop(const progress& now) const {
    if (now.since_improvement < limit) return std::nullopt;
    return counted(limit, "evaluation") + " without improvement";
  }
  std::optional<double> used(const progress& now) const { return share(now.since_improvement, limit); }
  std::vector<stop_part> parts(const progress& now) const {
    return one_part("stall", now.since_improvement, limit);
  }
};

}  // namespace kevo::stop
