#pragma once
// Proximal policy optimization (Schulman et al., arXiv 1707.06347) with generalized advantage estimation
// (Schulman et al., arXiv 1506.02438), for small policies (action_net). Needs Eigen.

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <Eigen/Core>

#include <kevo/learn/action_net.hpp>
#include <kevo/random.hpp>

namespace kevo {

/// The settings of the training. The defaults of `discount`, `lambda`, `clip` and `value_weight` are those of
/// TWOSOME (arXiv 2401.14151); the others are kevo's choice.
struct ppo_settings {
  std::size_t iterations = 60;  ///< number of iterations
  std::size_t episodes = 64;    ///< number of episodes in each iteration
  std::size_t epochs = 4;       ///< number of passes over the steps of an iteration
  std::size_t batch = 64;       ///< number of steps from which a gradient is computed
  double discount = 0.99;       ///< discount of later rewards, for each step
  double lambda = 0.95;         ///< lambda of generalized advantage estimation
  double clip = 0.2;            ///< the ratio of probabilities is clipped to [1 - clip, 1 + clip]
  double entropy = 0.01;        ///< weight of the entropy in the loss
  double value_weight = 0.5;    ///< weight of the error of the value in the loss
  double rate = 0.01;           ///< learning rate of Adam (Kingma and Ba, arXiv 1412.6980)
  double decay = 1e-4;          ///< weight decay: each update multiplies all weights by 1 - rate * decay
};

/// A step of an episode.
struct ppo_step {
  std::shared_ptr<const action_decision> at;  ///< the state and its possible actions
  std::size_t chosen = 0;                     ///< index of the chosen action
  double log_probability = 0;                 ///< log-probability of the chosen action, when it was chosen
  double value = 0;                           ///< value of the state as it was estimated at that time
  double reward = 0;                          ///< reward of the action
  double advantage = 0;                       ///< set by `estimate_advantages`
  double target = 0;                          ///< target of the value; set by `estimate_advantages`
};

/// An environment with episodes. `begin` starts an episode. `decision` returns the present state with its
/// possible actions, or null at the end of the episode. `act` performs the action with this index and returns
/// the reward.
template <class T>
concept episodic = requires(T& world, rng& random, std::size_t action) {
  world.begin(random);
  { world.decision() } -> std::convertible_to<std::shared_ptr<const action_decision>>;
  { world.act(action, random) } -> std::convertible_to<double>;
};

/// Fills in advantages and targets of one episode: A_t = sum_i (discount lambda)^i delta_(t+i), with delta_t
/// = r_t + discount V_(t+1) - V_t, and V = 0 after the end. The target of the value is A_t + V_t.
inline void estimate_advantages(std::span<ppo_step> episode, const ppo_settings& how) {
  double advantage = 0;
  double next_value = 0;
  for (std::size_t i = episode.size(); i-- > 0;) {
    ppo_step& step = episode[i];
    advantage = step.reward + how.discount * next_value - step.value + how.discount * how.lambda * advantage;
    step.advantage = advantage;
    step.target = advantage + step.value;
    next_value = step.value;
  }
}

/// The mean loss of some steps: clipped surrogate objective, squared error of the value, and entropy, with
/// the weights of `how`. If `gradient` is not null, adds the gradient of the loss to it.
inline double ppo_loss(const action_net& net, std::span<const ppo_step* const> steps, const ppo_settings& how,
                       Eigen::VectorXd* gradient) {
  double loss = 0;
  const double share = 1 / static_cast<double>(std::max<std::size_t>(1, steps.size()));
  for (const ppo_step* one : steps) {
    const auto chosen = static_cast<Eigen::Index>(one->chosen);
    const Eigen::VectorXd p = net.probabilities(*one->at);
    const Eigen::VectorXd logs = (p.array() + 1e-12).log();
    const double ratio = std::exp(logs(chosen) - one->log_probability);
    const double bounded = std::clamp(ratio, 1 - how.clip, 1 + how.clip);
    const bool inside = ratio * one->advantage <= bounded * one->advantage;
    const double entropy = -(p.array() * logs.array()).sum();
    const double wrong = net.value(one->at->state) - one->target;
    loss += share * (-std::min(ratio * one->advantage, bounded * one->advantage) +
                     0.5 * how.value_weight * wrong * wrong - how.entropy * entropy);
    if (gradient == nullptr) continue;
    Eigen::VectorXd by_scores = how.entropy * (p.array() * (logs.array() + entropy)).matrix();
    if (inside) {
      by_scores += ratio * one->advantage * p;
      by_scores(chosen) -= ratio * one->advantage;
    }
    net.add_gradient(*one->at, share * by_scores, share * how.value_weight * wrong, *gradient);
  }
  return loss;
}

/// Draws an action with the probabilities of the policy.
inline std::size_t draw_action(const Eigen::VectorXd& probabilities, rng& random) {
  const std::size_t at =
      random.weighted({probabilities.data(), static_cast<std::size_t>(probabilities.size())});
  return std::min(at, static_cast<std::size_t>(probabilities.size()) - 1);
}

/// Plays one episode with actions drawn from the policy, and returns its steps, without advantages and
/// targets.
template <episodic World>
std::vector<ppo_step> play(const action_net& net, World& world, rng& random) {
  std::vector<ppo_step> steps;
  world.begin(random);
  while (std::shared_ptr<const action_decision> at = world.decision()) {
    ppo_step step;
    const Eigen::VectorXd p = net.probabilities(*at);
    step.chosen = draw_action(p, random);
    step.log_probability = std::log(p(static_cast<Eigen::Index>(step.chosen)) + 1e-12);
    step.value = net.value(at->state);
    step.at = std::move(at);
    step.reward = world.act(step.chosen, random);
    steps.push_back(std::move(step));
  }
  return steps;
}

/// The sum of an episode's rewards, not discounted.
inline double return_of(std::span<const ppo_step> episode) {
  double sum = 0;
  for (const auto& step : episode) sum += step.reward;
  return sum;
}

/// Trains a policy. Equal arguments give equal policies. Not thread-safe.
class ppo {
 public:
  /// Starts from the policy `start`.
  ppo(action_net start, const ppo_settings& how, rng random)
      : net_(std::move(start)), how_(how), random_(random) {
    mean_ = square_ = Eigen::VectorXd::Zero(net_.size());
  }
  /// The policy as it is now.
  const action_net& net() const { return net_; }

  /// Performs one iteration: plays the episodes, then updates the policy. Returns the mean over the episodes
  /// of `return_of`.
  template <episodic World>
  double improve(World& world) {
    std::vector<ppo_step> steps;
    double sum = 0;
    for (std::size_t i = 0; i < how_.episodes; ++i) {
      rng own = random_.split(++played_);
      std::vector<ppo_step> episode = play(net_, world, own);
      sum += return_of(episode);
      estimate_advantages(episode, how_);
      std::move(episode.begin(), episode.end(), std::back_inserter(steps));
    }
    normalize(steps);
    std::vector<const ppo_step*> order;
    for (const auto& one : steps) order.push_back(&one);
    for (std::size_t epoch = 0; epoch < how_.epochs; ++epoch) {
      random_.shuffle(std::span<const ppo_step*>(order));
      for (std::size_t at = 0; at < order.size(); at += how_.batch)
        update(std::span<const ppo_step* const>(order).subspan(at, std::min(how_.batch, order.size() - at)));
    }
    return sum / static_cast<double>(std::max<std::size_t>(1, how_.episodes));
  }

 private:
  static void normalize(std::vector<ppo_step>& steps) {
    if (steps.size() < 2) return;
    double mean = 0;
    for (const auto& one : steps) mean += one.advantage / static_cast<double>(steps.size());
    double variance = 0;
    for (const auto& one : steps)
      variance += (one.advantage - mean) * (one.advantage - mean) / static_cast<double>(steps.size());
    const double scale = 1 / (std::sqrt(variance) + 1e-8);
    for (auto& one : steps) one.advantage = (one.advantage - mean) * scale;
  }

  void update(std::span<const ppo_step* const> steps) {
    constexpr double beta1 = 0.9, beta2 = 0.999;
    Eigen::VectorXd gradient = Eigen::VectorXd::Zero(net_.size());
    ppo_loss(net_, steps, how_, &gradient);
    ++updates_;
    mean_ = beta1 * mean_ + (1 - beta1) * gradient;
    square_ = beta2 * square_ + (1 - beta2) * gradient.cwiseAbs2();
    const auto n = static_cast<double>(updates_);
    const double first = 1 / (1 - std::pow(beta1, n)), second = 1 / (1 - std::pow(beta2, n));
    net_.weights.array() -= how_.rate * (first * mean_.array() / ((second * square_.array()).sqrt() + 1e-8) +
                                         how_.decay * net_.weights.array());
  }

  action_net net_;
  ppo_settings how_;
  rng random_;
  Eigen::VectorXd mean_, square_;
  std::uint64_t played_ = 0;
  std::uint64_t updates_ = 0;
};

}  // namespace kevo
