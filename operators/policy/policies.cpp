// The policies of <kevo/operators/action_policy.hpp>.

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <utility>

#include <Eigen/Cholesky>
#include <Eigen/Core>

#include "operators/policy/learnt_policy.hpp"

namespace kevo {
namespace {

/// The weights of the best actions; 0 for the others. `value` is what an action is worth.
template <class Value>
std::vector<double> weights_of_best(const action_choice& choice, Value value) {
  std::vector<double> values;
  for (const auto& one : choice.actions) values.push_back(value(one));
  const double best = values.empty() ? 0 : *std::max_element(values.begin(), values.end());
  std::vector<double> weights(values.size(), 0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] >= best) weights[i] = std::max(choice.actions[i].weight, 1e-9);
  }
  return weights;
}

std::vector<double> own_probabilities(const action_choice& choice) {
  double total = 0;
  for (const auto& one : choice.actions) total += one.weight;
  std::vector<double> weights;
  for (const auto& one : choice.actions)
    weights.push_back(total > 0 ? one.weight / total : 1 / static_cast<double>(choice.actions.size()));
  return weights;
}

}  // namespace

action_policy uniform_actions() {
  return {"uniform", [](const action_choice& choice, std::span<const tried_action>) {
            return std::vector<double>(choice.actions.size(), 1.0);
          }};
}

action_policy ucb_actions(double exploration) {
  return {"ucb",
          [exploration](const action_choice& choice, std::span<const tried_action> tried) {
            struct arm {
              double count = 0, reward = 0;
            };
            std::map<std::string, arm> arms;
            for (const auto& one : tried) {
              arm& its = arms[one.type];
              its.count += 1;
              its.reward += one.reward;
            }
            const double total = std::log(static_cast<double>(tried.size()) + 1);
            return weights_of_best(choice, [&](const possible_action& one) {
              const auto found = arms.find(one.type);
              if (found == arms.end()) return 1e9;
              const auto& [count, reward] = found->second;
              return reward / count + exploration * std::sqrt(total / count);
            });
          },
          true};
}

action_policy bandit_actions(const action_features& known, double exploration) {
  return {"bandit",
          [known, exploration](const action_choice& choice, std::span<const tried_action> tried) {
            const auto size = static_cast<Eigen::Index>(known.types.size() + known.regions.size());
            const auto inputs = [&known, size](const std::string& type, const std::vector<double>& region) {
              action_choice one;
              one.actions.push_back({type, {}, 1, region});
              return Eigen::VectorXd(decision_of(one, known, known).actions.col(0).head(size));
            };
            Eigen::MatrixXd products = Eigen::MatrixXd::Identity(size, size);
            Eigen::VectorXd rewards = Eigen::VectorXd::Zero(size);
            for (const auto& one : tried) {
              const Eigen::VectorXd x = inputs(one.type, one.region);
              products.selfadjointView<Eigen::Lower>().rankUpdate(x);
              rewards += one.reward * x;
            }
            const Eigen::LDLT<Eigen::MatrixXd, Eigen::Lower> solved(products);
            const Eigen::VectorXd model = solved.solve(rewards);
            return weights_of_best(choice, [&](const possible_action& one) {
              const Eigen::VectorXd x = inputs(one.type, one.features);
              return model.dot(x) + exploration * std::sqrt(std::max(0.0, x.dot(solved.solve(x))));
            });
          },
          true, true};
}

action_policy trained_actions(std::shared_ptr<const learnt_policy> learnt, const action_features& known,
                              double explore, bool regions) {
  return {"trained", [learnt = std::move(learnt), known, explore, regions](const action_choice& choice,
                                                                           std::span<const tried_action>) {
            std::vector<double> own = own_probabilities(choice);
            if (choice.actions.empty()) return own;
            const Eigen::VectorXd p = learnt->net.probabilities(decision_of(choice, known, learnt->features));
            std::vector<double> chosen(p.data(), p.data() + p.size());
            if (!regions) {
              std::map<std::string, std::pair<double, double>> types;  // of the policy, of the operator
              for (std::size_t i = 0; i < own.size(); ++i) {
                types[choice.actions[i].type].first += chosen[i];
                types[choice.actions[i].type].second += own[i];
              }
              for (std::size_t i = 0; i < own.size(); ++i) {
                const auto& [policy, all] = types[choice.actions[i].type];
                chosen[i] = all > 0 ? policy * own[i] / all : 0;
              }
            }
            for (std::size_t i = 0; i < own.size(); ++i)
              chosen[i] = (1 - explore) * chosen[i] + explore * own[i];
            return chosen;
          }};
}

}  // namespace kevo
