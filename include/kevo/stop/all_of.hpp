#pragma once
// The last of several rules.

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <kevo/stop.hpp>

namespace kevo::stop {

/// Stops when all of its rules do at once ("at least 100 evaluations and a speedup of 2"), with their
/// reasons; never if it has none.
struct all_of {
  std::vector<any_stop_rule> rules;

  void observe(const progress& now) {
    for (any_stop_rule& rule : rules) rule.observe(now);
  }

  std::optional<std::string> stop(const progress& now) {
    std::string reasons;
    bool all = !rules.empty();
    for (any_stop_rule& rule : rules) {
      const auto one = rule.stop(now);
      all = all && one;
      if (one) reasons += (reasons.empty() ? "" : " and ") + *one;
    }
    if (!all) return std::nullopt;
    return reasons;
  }
  /// The rule that is furthest from stopping; nothing if one of them cannot tell.
  std::optional<double> used(const progress& now) const {
    std::optional<double> least;
    for (const any_stop_rule& rule : rules) {
      const auto one = rule.used(now);
      if (!one) return std::nullopt;
      least = std::min(least.value_or(1), *one);
    }
    return least;
  }
};

}  // namespace kevo::stop
