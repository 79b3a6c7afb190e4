#pragma once
// The stop rule `money`: a budget for the cost of language models.

#include <optional>
#include <string>
#include <vector>

#include <kevo/stop.hpp>
#include <kevo/stop/text.hpp>

namespace kevo::stop {

/// Stops when operators and evaluations have spent `limit` together, in the currency of the configured
/// prices.
struct money {
  double limit = 0;  ///< amount in the currency of the configured prices

  std::optional<std::string> stop(const progress& now) const {
    if (now.ledger.variation.money + now.ledger.evaluation.money < limit) return std::nullopt;
    return "spent " + number(limit);
  }
  std::optional<double> used(const progress& now) const {
    return share(now.ledger.variation.money + now.ledger.evaluation.money, limit);
  }
  std::vector<stop_part> parts(const progress& now) const {
    return one_part("money", now.ledger.variation.money + now.ledger.evaluation.money, limit);
  }
};

}  // namespace kevo::stop
