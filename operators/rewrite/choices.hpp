#pragma once
// Which actions are possible in a source, and what a policy sees of them.

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <kevo/evaluation.hpp>
#include <kevo/operators/action_policy.hpp>

#include "operators/rewrite/action.hpp"

namespace kevo::rewriting {

struct choice {
  const action* what;
  site where;
  double weight;  ///< how often it is taken, compared with the others
};

/// All actions that may be tried. `only`: names of those that are allowed; empty allows all.
std::vector<choice> choices_of(const kernel& of, const std::vector<std::string>& only);

/// What is known of the program that is changed, beside its source.
struct program_history {
  bool measured = false;
  std::map<std::string, double> measures;
  double log_speedup = 0;  ///< of a valid program over the baseline
  double log_gain = 0;     ///< over its parent
  double sol_fraction = 0;
  std::vector<std::string> actions;  ///< that led to it, the latest first
};
/// What an evaluation says; `parent` and `result` may be null.
program_history history_of(const evaluation* result, const evaluation* parent,
                           std::vector<std::string> actions);

/// The choice as a policy sees it, in the order of `all`. O(size of the source * number of choices).
action_choice described(const kernel& of, const std::vector<choice>& all, const program_history& before);

/// The types of actions in a summary such as "tile loop i in line 7, unroll loop j in line 9", in its order.
std::vector<std::string> actions_in(std::string_view summary);

}  // namespace kevo::rewriting
