#pragma once
// The stop rule `seconds`: a budget of run time.

#include <optional>
#include <string>
#include <vector>

#include <kevo/stop.hpp>
#include <kevo/stop/text.hpp>

namespace kevo::stop {

/// Stops when the run has used `limit` seconds of run time [s], summed over all its sessions. Time for which
/// a run waits for another process that measures does not count.
struct seconds {
  double limit = 0;  ///< [s] run time

  std::optional<std::string> stop(const progress& now) const {
    if (now.ledger.elapsed_s < limit) return std::nullopt;
    return number(limit) + " seconds";
  }
  std::optional<double> used(const progress& now) const { return share(now.ledger.elapsed_s, limit); }
  std::vector<stop_part> parts(const progress& now) const {
    return one_part("seconds", now.ledger.elapsed_s, limit);
  }
};

}  // namespace kevo::stop
