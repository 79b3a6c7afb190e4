#pragma once
// The stop rules of a run one by one, so that a display can say how much of each is used.

#include <string>
#include <vector>

#include <kevo/stop.hpp>

#include "src/display/run_status.hpp"

namespace kevo {

struct budget_rule {
  std::string name;  ///< "evaluations 400"
  any_stop_rule rule;
};

/// The rules of `stop:` in a resolved config: those of an `any` list each, else the one there is. Empty if
/// they cannot be read: a display goes without.
std::vector<budget_rule> budget_rules_of(const std::string& resolved_config);

/// What is used of each; rules that cannot tell are left out.
std::vector<budget_share> shares_of(const std::vector<budget_rule>& rules, const progress& now);

}  // namespace kevo
