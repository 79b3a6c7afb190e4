#pragma once
// The stop rule `device_seconds`: a budget of time on the measuring device.

#include <optional>
#include <string>
#include <vector>

#include <kevo/stop.hpp>
#include <kevo/stop/text.hpp>

namespace kevo::stop {

/// Stops when the device has been reserved for measuring for `limit` seconds [s] in total. On a GPU,
/// this is the time that has to be paid.
struct device_seconds {
  double limit = 0;  ///< [s] time on the device

  std::optional<std::string> stop(const progress& now) const {
    if (now.ledger.variation.device_s + now.ledger.evaluation.device_s < limit) return std::nullopt;
    return number(limit) + " device seconds";
  }
  std::optional<double> used(const progress& now) const {
    return share(now.ledger.variation.device_s + now.ledger.evaluation.device_s, limit);
  }
  std::vector<stop_part> parts(const progress& now) const {
    return one_part("device_seconds", now.ledger.variation.device_s + now.ledger.evaluation.device_s, limit);
  }
};

}  // namespace kevo::stop
