#pragma once
// The stop rule `stall`: the best score has not improved for a number of evaluations.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <kevo/stop.hpp>
#include <kevo/stop/text.hpp>

namespace kevo::stop {

/// Stops when the best score has not risen by more than `search_settings::improvement_margin` for `limit`
/// evaluations; confirmations do not count. (Issue 424 of pagmo2 asks for such a rule; KernelEvolve and AVO
/// stop or change their strategy on this condition.)
struct stall {
  std::uint64_t limit = 0;  ///< number of evaluations without an improvement

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
