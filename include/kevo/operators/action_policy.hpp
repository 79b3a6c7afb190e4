#pragma once
// Policies that choose one of the actions that are possible in a program. An action is a type of change and
// the place where it is made. A policy is uniform, or a bandit that learns within the run, or was trained on
// other runs. Compiled: link kevo::kevo.

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
  std::string type;    ///< type of change, such as "tile"
  std::string region;  ///< place of the change, such as "loop i in line 7"
  double weight = 1;   ///< the operator's own weight: relative probability of the action without a policy
  std::vector<double> features;  ///< features of the region, in the order of `action_features::regions`
};

/// A program from which an action is to be chosen.
struct action_choice {
  std::vector<double> state;  ///< features of the program, in the order of `action_features::states`
  std::vector<possible_action> actions;
};

/// The names of the features that an operator computes: of a program (`states`) and of the place of an action
/// (`regions`), and the names of its types of actions (`types`).
struct action_features {
  std::vector<std::string> states;   ///< features of a program
  std::vector<std::string> types;    ///< types of actions
  std::vector<std::string> regions;  ///< features of the place of an action
  friend bool operator==(const action_features&, const action_features&) = default;
};

/// An action that was taken in this run, with its reward.
struct tried_action {
  std::string type;            ///< its type of change
  std::vector<double> region;  ///< features of its region; empty if they are not known
  double reward = 0;           ///< the relative gain over the parent, from 0 to 1
};

/// A policy: a function that gives each possible action a weight.
struct action_policy {
  std::string name;  ///< name for reports
  /// A weight for each action, in the order of the choice: actions are drawn with probabilities that are
  /// proportional to them. `tried` holds the earlier actions of the run with their rewards, in the order of
  /// the results; it is empty unless `learns` is true. The function may be called from several threads at
  /// once, and its result depends on the arguments alone.
  std::function<std::vector<double>(const action_choice& choice, std::span<const tried_action> tried)>
      weights;
  bool learns = false;          ///< whether the policy learns within the run from `tried`
  bool reads_features = false;  ///< whether the policy uses the features of the regions in `tried`
};

/// Every action has the same probability.
action_policy uniform_actions();
/// Chooses the type by UCB1 (Auer et al., 2002), and the place among those of the type by the operator's own
/// weights.
action_policy ucb_actions(double exploration = 1.4142135623730951);
/// LinUCB (Li et al., "A contextual-bandit approach to personalized news article recommendation", WWW 2010)
/// with one linear model for all actions, whose inputs are the type and the features of the region. It takes
/// the action with the greatest mean + exploration * standard deviation. The default is small because rewards
/// are small; it is kevo's choice.
action_policy bandit_actions(const action_features& known, double exploration = 0.3);

/// A policy that `kevo learn policy` has trained, as `read_policy` returns it.
struct learnt_policy;

/// Chooses with a policy that `kevo learn policy` has trained: with probability `explore` by the operator's
/// own weights, otherwise with the probabilities of the policy. Without `regions`, only the type is chosen by
/// the policy (with the sum of the probabilities of its places), and the place by the operator's own weights.
action_policy trained_actions(std::shared_ptr<const learnt_policy> learnt, const action_features& known,
                              double explore = 0.1, bool regions = true);

/// Reads a file of `kevo learn policy`. The format is in docs/learn_policy.md. Throws kevo::error (input),
/// which names the file and the fault, if it cannot be read.
std::shared_ptr<const learnt_policy> read_policy(const std::string& path);
/// Throws kevo::error (input) if the policy was trained on a feature that is not in `known`. `user` is the
/// name of the operator, for the message.
void require_features(const learnt_policy& policy, const action_features& known, std::string_view user);

}  // namespace kevo
