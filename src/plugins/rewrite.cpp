// The operator `rewrite` from a config.

#include "src/plugins/rewrite.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "src/plugins/count_setting.hpp"
#include "src/plugins/named_policy.hpp"

namespace kevo {

namespace {

/// How actions of `rewrite` are chosen; without `weights`, by their own weights.
action_policy rewrite_policy_from(settings& from, const build_context& context) {
  const setting<std::string> what = {
      .def = "weights",
      .doc =
          "how an action is chosen. weights: by fixed weights of the actions; uniform: all with equal "
          "probability; ucb: UCB1 over the kinds of action; bandit: a linear model of kind and place that "
          "learns in this run. Any other value is the path of a policy file that kevo learn policy wrote, "
          "relative to the config"};
  named_policy chosen =
      named_policy_from(from, what, {"weights", "uniform", "ucb", "bandit"}, context.directory);
  if (chosen.name == "weights") return {};
  if (chosen.name == "uniform") return uniform_actions();
  if (chosen.name == "ucb") return ucb_actions();
  if (chosen.name == "bandit") return bandit_actions(rewrite_features());
  return std::move(chosen.learnt);
}

}  // namespace

rewrite rewrite_from(settings& from, const build_context& context) {
  rewrite op;
  std::vector<std::string> names;
  for (const auto& one : rewrite_actions()) names.push_back(one.name);
  op.only = from.texts("actions", {.doc = "names of the actions that may be taken; empty means all"},
                       std::vector<std::string>{});
  for (const auto& name : op.only) {
    if (std::find(names.begin(), names.end(), name) == names.end())
      from.fail("actions", "rewrite has no action '" + name + "'", "docs/rewrite.md lists the actions");
  }
  op.another_action = from.real(
      "another_action",
      {.def = op.another_action,
       .min = 0.0,
       .max = 1.0,
       .unit = "probability",
       .doc = "probability of one more action in the same proposal, applied again after each action"});
  op.tries = count_from(from, "tries", op.tries,
                        {.min = 1,
                         .max = 10000,
                         .unit = "programs",
                         .doc = "number of unsuccessful changes (the result is a known program, or cannot be "
                                "written) after which the operator gives up"});
  op.threads = static_cast<int>(
      from.integer("threads", {.def = op.threads,
                               .min = 1,
                               .max = 1024,
                               .unit = "threads",
                               .doc = "number of threads that the kernel may use; with 2 or more, loops may "
                                      "be shared among threads, which requires -fopenmp in fitness.flags"}));
  op.policy = rewrite_policy_from(from, context);
  if (!from.probing() && context.task) require_rewrite_parser();
  return op;
}

}  // namespace kevo
