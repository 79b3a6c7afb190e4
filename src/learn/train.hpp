#pragma once
// Training of a policy on a tree, and what it is worth on tasks that it has not seen.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <kevo/learn/ppo.hpp>

#include "operators/policy/learnt_policy.hpp"
#include "src/learn/learn_policy.hpp"
#include "src/learn/macro_tree.hpp"

namespace kevo {

struct training_settings {
  ppo_settings ppo;
  stage_rewards rewards;
  std::size_t hidden = 0;   ///< units of the network; 0: linear
  std::size_t horizon = 6;  ///< steps of an episode
  std::uint64_t seed = 1;
  std::size_t look_every = 10;  ///< iterations between points of the curve
};

struct trained_policy {
  learnt_policy policy;
  std::vector<learning_point> curve;
  double uniform_return = 0;  ///< of uniform choice, on the tasks that were held out
};

/// Trains on all tasks but those in `held_out`. `stopped`, if given, is asked between iterations.
trained_policy train_policy(const macro_tree& tree, const std::vector<std::size_t>& held_out,
                            const training_settings& how, const std::function<bool()>& stopped = {});

/// Searches every task with every policy and `seeds` seeds, until `share` of the gain that the recorded
/// programs of the task allow is found. `counted` gets the number of tasks with a gain. `policies`: for a
/// task, those to compare; the first one is the measure.
std::vector<policy_comparison> compare_policies(
    const macro_tree& tree, const std::vector<std::size_t>& tasks,
    const std::function<std::vector<action_policy>(std::size_t task)>& policies, std::size_t seeds,
    double share, std::size_t* counted = nullptr);

/// The choice by the operator's own weights, as a policy.
action_policy own_weights();

}  // namespace kevo
