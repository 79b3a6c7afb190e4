#pragma once
// The stop rule `all`: stops when all of several rules are fulfilled.

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <kevo/stop.hpp>

namespace kevo::stop {

/// Stops when all of its rules would stop at the same moment ("at least 100 evaluations and a speedup of 2").
/// The reason joins those of all rules. Without rules, it never stops.
struct all_of {
  std::vector<any_stop_rule> rules;  ///< the rules that are combined

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
  /// The smallest share of all rules; nothing if one of them cannot tell its share.
  std::optional<double> used(const progress& now) const {
    std::optional<double> least;
    for (const any_stop_rule& rule : rules) {
      const auto one = rule.used(now);
      if (!one) return std::nullopt;
      least = std::min(least.value_or(1), *one);
    }
    return least;
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
