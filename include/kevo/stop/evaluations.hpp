#pragma once
// The stop rule `evaluations`: a budget of finished evaluations.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <kevo/stop.hpp>
#include <kevo/stop/text.hpp>

namespace kevo::stop {

/// Stops when `limit` evaluations have finished. First evaluations, re-evaluations and evaluations of drafts
/// count; confirmations do not.
struct evaluations {
  std::uint64_t limit = 0;  ///< number of evaluations

  std::optional<std::string> stop(const progress& now) const {
    if (now.ledger.evaluations < limit) return std::nullopt;
    return counted(limit, "evaluation");
  }
  std::optional<double> used(const progress& now) const { return share(now.ledger.evaluations, limit); }
  std::vector<stop_part> parts(const progress& now) const {
    return one_part("evaluations", now.ledger.evaluations, limit);
  }
};

}  // namespace kevo::stop
