#pragma once
// Policies that choose an action, a kind of change and the place where it is made, among those that are
// possible: uniform, by a bandit that learns within the run, or trained on other runs. Compiled: link
// kevo::kevo.

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <kevo/random.hpp>

namespace kevo {

/// An action that is possible in a program.
struct possible_action {
  std::string type;              ///< "tile"
  std::string region;            ///< "loop i in line 7"
  double weight = 1;             ///< how often the operator would take it by itself, compared with the others
  std::vector<double> features;  ///< of the region, in the order of `action_features::regions`
};

/// A program from which an action is to be chosen.
struct action_choice {
  std::vector<double> state;  ///< in the order of `action_features::states`
  std::vector<possible_action> actions;
};

/// The names of what an operator says of a program, of its actions, and of the places of an action.
struct action_features {
  std::vector<std::string> states;
  std::vector<std::string> types;
  std::vector<std::string> regions;
  friend bool operator==(const action_features&, const action_features&) = default;
};

/// What became of an action in this run.
struct tried_action {
  std::string type;
  std::vector<double> region;  ///< features; empty if they are not known
  double reward = 0;           ///< the relative gain over the parent, from 0 to 1
};

/// A policy.
struct action_policy {
  std::string name;
  /// A weight for each action, in the order of the choice: actions are drawn with probabilities that are
  /// proportional to them. `tried` is what became of the run's earlier actions, in the order of the results;
  /// it is empty unless the policy `learns`. Called by several threads at the same time. The answer depends
  /// on the arguments alone.
  std::function<std::vector<double>(const action_choice& choice, std::span<const tried_action> tried)>
      weights;
  bool learns = false;          ///< within the run
  bool reads_features = false;  ///< of `tried`
};

/// Every action has the same probability.
action_policy uniform_actions();
/// UCB1 (Auer et al., 2002) over the types; among the places of a type, by the operator's own weights.
action_policy ucb_actions(double exploration = 1.4142135623730951);
/// LinUCB (Li et al., "A contextual-bandit approach to personalized news article recommendation", WWW 2010)
/// with one linear model of type and region for all actions; the mean plus `exploration` standard deviations
/// decides. Rewards are small, and so is the default, which is kevo's choice.
action_policy bandit_actions(const action_features& known, double exploration = 0.3);

struct learnt_policy;

/// Chooses as `kevo learn policy` has learnt: with probability `explore` by the operator's own weights,
/// otherwise with the probabilities of the policy. Without `regions`, only the type is chosen by the policy
/// (with the sum of the probabilities of its places), and the place by the operator's own weights.
action_policy trained_actions(std::shared_ptr<const learnt_policy> learnt, const action_features& known,
                              double explore = 0.1, bool regions = true);

/// Reads a file of `kevo learn policy`. The format is in docs/learn_policy.md. Throws kevo::error (input)
/// that names the file and what is wrong.
std::shared_ptr<const learnt_policy> read_policy(const std::string& path);
/// Throws kevo::error (input) unless the policy was trained on features that all are in `known`.
void require_features(const learnt_policy& policy, const action_features& known, std::string_view user);

}  // namespace kevo
