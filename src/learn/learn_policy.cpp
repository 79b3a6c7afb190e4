#include "src/learn/learn_policy.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <kevo/error.hpp>
#include <kevo/version.hpp>

#include "src/learn/record_tree.hpp"
#include "src/learn/train.hpp"

namespace kevo {
namespace {

std::vector<std::size_t> held_out_of(const macro_tree& tree, const learn_request& asked) {
  std::vector<std::size_t> places;
  for (const auto& name : asked.hold_out) {
    const auto found = std::find(tree.tasks.begin(), tree.tasks.end(), name);
    if (found == tree.tasks.end())
      throw error(error_code::usage, fmt::format("the runs have no task '{}'", name), {.key = "--hold-out"},
                  fmt::format("the tasks are {}", fmt::join(tree.tasks, ", ")));
    places.push_back(static_cast<std::size_t>(found - tree.tasks.begin()));
  }
  if (!places.empty() || asked.leave_one_out) return places;
  for (std::size_t i = 3; i < tree.tasks.size(); i += 4) places.push_back(i);
  if (places.empty() && tree.tasks.size() > 1) places.push_back(tree.tasks.size() - 1);
  return places;
}

std::vector<action_policy> policies_with(const macro_tree& tree, const learnt_policy& policy,
                                         double explore) {
  const auto learnt = std::make_shared<const learnt_policy>(policy);
  auto types = trained_actions(learnt, tree.features, explore, false);
  types.name = "trained, types alone";
  return {uniform_actions(), own_weights(),
          ucb_actions(),     bandit_actions(tree.features),
          std::move(types),  trained_actions(learnt, tree.features, explore)};
}

}  // namespace

learn_report learn_policy(const learn_request& asked, const std::function<bool()>& stopped) {
  training_settings how;
  how.ppo.iterations = asked.iterations;
  how.hidden = asked.hidden;
  how.horizon = asked.horizon;
  how.seed = asked.seed;
  const macro_tree tree = tree_of_runs(asked.runs);
  const auto held_out = held_out_of(tree, asked);
  learn_report made{.programs = tree.nodes.size(),
                    .actions = tree.edges,
                    .unknown_actions = tree.unknown,
                    .tasks = tree.tasks};
  for (const std::size_t one : held_out) made.held_out.push_back(tree.tasks[one]);
  trained_policy trained = train_policy(tree, held_out, how, stopped);
  std::vector<std::size_t> tested = held_out;
  std::function<std::vector<action_policy>(std::size_t)> policies = [&](std::size_t) {
    return policies_with(tree, trained.policy, asked.explore);
  };
  if (asked.leave_one_out && tree.tasks.size() > 1) {
    for (std::size_t i = 0; i < tree.tasks.size(); ++i) tested.push_back(i);
    policies = [&](std::size_t task) {
      return policies_with(tree, train_policy(tree, {task}, how, stopped).policy, asked.explore);
    };
  }
  made.compared = compare_policies(tree, tested, policies, asked.seeds, asked.share, &made.compared_tasks);
  made.curve = std::move(trained.curve);
  made.uniform_return = trained.uniform_return;
  auto& about = trained.policy.trained;
  about["kevo"] = fmt::format("{}.{}.{}", KEVO_VERSION_MAJOR, KEVO_VERSION_MINOR, KEVO_VERSION_PATCH);
  about["seed"] = fmt::to_string(asked.seed);
  about["iterations"] = fmt::to_string(asked.iterations);
  about["tasks"] = fmt::format("{}", fmt::join(tree.tasks, " "));
  about["held out"] = fmt::format("{}", fmt::join(made.held_out, " "));
  made.policy_json = to_json(trained.policy);
  return made;
}

}  // namespace kevo
