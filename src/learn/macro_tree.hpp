#pragma once
// What runs have recorded, as a tree in which policies are trained and compared without compiler or GPU:
// nodes are programs, edges are actions.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <kevo/content_id.hpp>
#include <kevo/evaluation.hpp>
#include <kevo/learn/ppo.hpp>
#include <kevo/operators/action_policy.hpp>
#include <kevo/reward.hpp>

namespace kevo {

/// A program of a tree. Programs that differ in the values of tunables alone are one node, which has the best
/// result of all.
struct tree_node {
  std::size_t task = 0;                  ///< in macro_tree::tasks
  std::optional<kevo::outcome> outcome;  ///< nothing if it was never evaluated
  double log_score = 0;                  ///< of a valid one
  action_choice choice;                  ///< the actions that were possible; empty if they are not known
  /// For each of these actions, the programs that it led to; without an entry, it was never taken.
  std::map<std::size_t, std::vector<std::size_t>> children;

  bool valid() const { return outcome == kevo::outcome::valid; }
};

struct macro_tree {
  action_features features;
  std::vector<std::string> tasks;
  std::vector<std::size_t> roots;  ///< for each task, the program from which its runs start
  std::vector<tree_node> nodes;
  std::size_t edges = 0;    ///< recorded pairs of action and program
  std::size_t unknown = 0;  ///< variations whose action could not be found in the program
};

/// What a step from a valid program to `to` earns, without the decay.
double reward_of(const tree_node& from, const tree_node& to, const stage_rewards& how);

/// A tree as a world of episodes. An episode starts at a valid program and ends after `horizon` steps, or
/// where no recorded action is left. A step that does not lead to a valid program stays at the program before
/// it. No action is taken twice at a program in an episode.
class tree_world {
 public:
  /// `tasks`: those whose programs may be started from.
  tree_world(const macro_tree& tree, const std::vector<std::size_t>& tasks, stage_rewards rewards = {},
             std::size_t horizon = 6);
  bool empty() const { return starts_.empty(); }
  void begin(rng& random);
  std::shared_ptr<const action_decision> decision();
  double act(std::size_t action, rng& random);
  /// The present choice in terms of `action_policy`; the actions that may be taken now.
  action_choice open_choice() const;

 private:
  std::vector<std::size_t> open() const;

  const macro_tree* tree_;
  stage_rewards rewards_;
  std::size_t horizon_;
  std::vector<std::size_t> starts_;
  std::vector<std::size_t> roots_;
  std::size_t at_ = 0;
  std::size_t step_ = 0;
  double scale_ = 1;
  std::map<std::size_t, std::vector<std::size_t>> taken_;
};

/// The mean return of a policy in some episodes.
double mean_return(tree_world world, const action_policy& policy, std::size_t episodes, std::uint64_t seed);

/// A search of one task's programs from its root: parents by their rank among the valid programs that were
/// found (power law with exponent 2), actions by the policy, each recorded action of a program once. Returns
/// the best logarithm of the score after each evaluation, that of the root first.
std::vector<double> search_tree(const macro_tree& tree, std::size_t task, const action_policy& policy,
                                std::uint64_t seed);
/// The number of evaluations after which a search has `share` of the possible gain over its start, which is
/// the best of `curve`'s task. Nothing if nothing better than the root can be found.
std::optional<double> evaluations_needed(const std::vector<double>& curve, double best, double share);
/// The best logarithm of the score that a search can find.
double best_of_task(const macro_tree& tree, std::size_t task);

}  // namespace kevo
