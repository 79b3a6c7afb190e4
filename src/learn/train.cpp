#include "src/learn/train.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include <kevo/error.hpp>
#include <kevo/evaluate/statistics.hpp>

namespace kevo {
namespace {

constexpr std::size_t looked_at_episodes = 200;

action_policy policy_of(const action_net& net, const action_features& features) {
  const auto learnt = std::make_shared<const learnt_policy>(learnt_policy{"rewrite", features, net, {}});
  return trained_actions(learnt, features, 0);
}

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double one : values) sum += one;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

}  // namespace

action_policy own_weights() {
  return {"weights", [](const action_choice& choice, std::span<const tried_action>) {
            std::vector<double> weights;
            for (const auto& one : choice.actions) weights.push_back(one.weight);
            return weights;
          }};
}

trained_policy train_policy(const macro_tree& tree, const std::vector<std::size_t>& held_out,
                            const training_settings& how, const std::function<bool()>& stopped) {
  std::vector<std::size_t> tasks;
  for (std::size_t i = 0; i < tree.tasks.size(); ++i) {
    if (std::find(held_out.begin(), held_out.end(), i) == held_out.end()) tasks.push_back(i);
  }
  tree_world world(tree, tasks, how.rewards, how.horizon);
  const tree_world unseen(tree, held_out, how.rewards, how.horizon);
  if (world.empty())
    throw error(error_code::input,
                "the runs to train on have no valid program with an action that was evaluated", {},
                "name runs in which the operator rewrite made valid programs");
  const rng random = rng(how.seed).split("policy");
  ppo trainer(net_for(tree.features, how.hidden, random.split("net")), how.ppo, random.split("ppo"));
  trained_policy made;
  const auto look = [&](std::size_t iteration, double trained) {
    made.curve.push_back(
        {iteration, trained,
         mean_return(unseen, policy_of(trainer.net(), tree.features), looked_at_episodes, how.seed)});
  };
  made.uniform_return = mean_return(unseen, uniform_actions(), looked_at_episodes, how.seed);
  look(0, mean_return(world, uniform_actions(), looked_at_episodes, how.seed));
  for (std::size_t i = 1; i <= how.ppo.iterations; ++i) {
    if (stopped && stopped()) throw error(error_code::interrupted, "the training was interrupted");
    const double trained = trainer.improve(world);
    if (i % std::max<std::size_t>(1, how.look_every) == 0 || i == how.ppo.iterations) look(i, trained);
  }
  made.policy = {"rewrite", tree.features, trainer.net(), {}};
  return made;
}

namespace {

/// Half of the 95 % interval of the mean.
double half_width(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  const double mean = mean_of(values);
  double squares = 0;
  for (const double one : values) squares += (one - mean) * (one - mean);
  const auto n = static_cast<double>(values.size());
  return student_t(0.05, n - 1) * std::sqrt(squares / (n - 1) / n);
}

/// `logs`: of each task, of each seed.
evaluations_ratio ratio_of(const std::vector<std::vector<double>>& logs,
                           const std::vector<std::vector<double>>& others) {
  std::vector<double> by_seed(logs.empty() ? 0 : logs.front().size(), 0);
  std::vector<double> by_task;
  for (std::size_t task = 0; task < logs.size(); ++task) {
    double sum = 0;
    for (std::size_t seed = 0; seed < by_seed.size(); ++seed) {
      const double difference = logs[task][seed] - others[task][seed];
      by_seed[seed] += difference / static_cast<double>(logs.size());
      sum += difference;
    }
    by_task.push_back(sum / static_cast<double>(by_seed.size()));
  }
  const double mean = mean_of(by_task);
  const double seeds = half_width(by_seed), tasks = half_width(by_task);
  return {std::exp(mean), std::exp(mean - seeds), std::exp(mean + seeds), std::exp(mean - tasks),
          std::exp(mean + tasks)};
}

}  // namespace

std::vector<policy_comparison> compare_policies(
    const macro_tree& tree, const std::vector<std::size_t>& tasks,
    const std::function<std::vector<action_policy>(std::size_t task)>& policies, std::size_t seeds,
    double share, std::size_t* counted) {
  std::vector<std::string> names;
  std::vector<std::vector<std::vector<double>>> logs;  // of each policy, task and seed
  std::size_t with_gain = 0;
  for (const std::size_t task : tasks) {
    const double best = best_of_task(tree, task);
    if (!(best > tree.nodes[tree.roots[task]].log_score + 1e-9)) continue;
    ++with_gain;
    const auto all = policies(task);
    names.clear();
    for (const auto& one : all) names.push_back(one.name);
    logs.resize(all.size());
    for (std::size_t p = 0; p < all.size(); ++p) {
      auto& needed = logs[p].emplace_back();
      for (std::size_t seed = 1; seed <= seeds; ++seed) {
        const auto found = evaluations_needed(search_tree(tree, task, all[p], seed), best, share);
        needed.push_back(std::log(std::max(1.0, found.value_or(1))));
      }
    }
  }
  if (counted != nullptr) *counted = with_gain;
  std::vector<policy_comparison> made;
  for (std::size_t p = 0; p < logs.size(); ++p) {
    policy_comparison one{names[p], 0, ratio_of(logs[p], logs[0]),
                          ratio_of(logs[p], logs[std::min<std::size_t>(1, logs.size() - 1)])};
    for (std::size_t task = 0; task < with_gain; ++task) {
      one.evaluations += mean_of(logs[p][task]) / static_cast<double>(with_gain);
      if (mean_of(logs[p][task]) < mean_of(logs[0][task])) ++one.better;
    }
    one.evaluations = std::exp(one.evaluations);
    made.push_back(std::move(one));
  }
  return made;
}

}  // namespace kevo
