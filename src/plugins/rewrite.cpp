// The operator `rewrite` from a config.

#include "src/plugins/rewrite.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "src/base/settings/path_setting.hpp"

namespace kevo {

action_policy learnt_policy_from(settings& from, const std::string& file) {
  const double explore =
      from.real("explore", {.def = 0.2,
                            .min = 0.0,
                            .max = 1.0,
                            .unit = "probability",
                            .doc = "with the file of a policy, probability of choosing by weights instead"});
  const bool regions = from.boolean(
      "regions", {.def = true,
                  .doc = "with the file of a policy, whether it chooses the place of an action, too; "
                         "otherwise weights do"});
  if (file.empty() || from.probing()) return {};
  const auto learnt = read_policy(file);
  try {
    require_features(*learnt, rewrite_features(), "rewrite");
  } catch (const error& wrong) {
    throw error(wrong.code(), wrong.message(), {.file = file}, wrong.hint());
  }
  return trained_actions(learnt, rewrite_features(), explore, regions);
}

namespace {

/// How actions of `rewrite` are chosen; without `weights`, by their own weights.
action_policy rewrite_policy_from(settings& from, const build_context& context) {
  const setting<std::string> what = {
      .def = "weights",
      .doc =
          "how an action is chosen: weights (fixed ones of the actions), uniform, ucb (UCB1 over the kinds "
          "of action), bandit (a linear model of kind and place that learns in this run), or the file of a "
          "policy of kevo learn policy, relative to the config"};
  const settings_node* raw = from.raw().find("policy");
  static const std::set<std::string> names = {"weights", "uniform", "ucb", "bandit"};
  const bool named = raw == nullptr || names.contains(raw->text);
  const std::string policy =
      named ? from.text("policy", what) : path_from(from, "policy", what, context.directory);
  action_policy learnt = learnt_policy_from(from, named ? std::string() : policy);
  if (policy == "weights") return {};
  if (policy == "uniform") return uniform_actions();
  if (policy == "ucb") return ucb_actions();
  if (policy == "bandit") return bandit_actions(rewrite_features());
  return learnt;
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
      from.fail("actions", "rewrite has no action '" + name + "'");
  }
  op.another_action =
      from.real("another_action",
                {.def = op.another_action,
                 .min = 0.0,
                 .max = 1.0,
                 .unit = "probability",
                 .doc = "probability of one more action in the same proposal, applied again after each"});
  op.tries = static_cast<std::size_t>(from.integer(
      "tries", {.def = static_cast<std::int64_t>(op.tries),
                .min = 1,
                .max = 10000,
                .unit = "programs",
                .doc = "number of changes that may turn out to be known or not writable before the "
                       "operator gives up"}));
  op.threads = static_cast<int>(from.integer(
      "threads",
      {.def = op.threads,
       .min = 1,
       .max = 1024,
       .unit = "threads",
       .doc = "number of threads that the kernel may use; from 2, loops may be shared among threads, "
              "for which fitness.flags needs -fopenmp"}));
  op.policy = rewrite_policy_from(from, context);
  if (!from.probing() && context.task) require_rewrite_parser();
  return op;
}

}  // namespace kevo
