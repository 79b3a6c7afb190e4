#pragma once
// The stop rule `any`: stops as soon as one of several rules is fulfilled.

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <kevo/stop.hpp>

namespace kevo::stop {

/// Stops as soon as one of its rules would stop. The reason is that of the first such rule. Without rules, it
/// never stops.
struct any_of {
  std::vector<any_stop_rule> rules;  ///< the rules that are combined

  void observe(const progress& now) {
    for (any_stop_rule& rule : rules) rule.observe(now);
  }

  /// Asks every rule each time, so that a rule with state does not depend on its position in the list.
  std::optional<std::string> stop(const progress& now) {
    std::optional<std::string> reason;
    for (any_stop_rule& rule : rules) {
      auto one = rule.stop(now);
      if (!reason) reason = std::move(one);
    }
    return reason;
  }
  /// The greatest share of all rules that can tell it; nothing if none can.
  std::optional<double> used(const progress& now) const {
    std::optional<double> most;
    for (const any_stop_rule& rule : rules) {
      if (const auto one = rule.used(now)) most = std::max(most.value_or(0), *one);
    }
    return most;
  }
  /// The parts of all rules.
  std::vector<stop_part> parts(const progress& now) const {
    std::vector<stop_part> all;
    for (const any_stop_rule& rule : rules) {
      for (stop_part& part : rule.parts(now)) all.push_back(std::move(part));
    }
    return all;
  }
};

}  // namespace kevo::stop
