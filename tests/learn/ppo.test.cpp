// Gradients of policies against finite differences; advantages by hand; what PPO learns.

#include <doctest/doctest.h>

#include <kevo/learn/ppo.hpp>

namespace {

kevo::action_decision some_decision(kevo::rng& random, Eigen::Index states, Eigen::Index features,
                                    Eigen::Index actions) {
  kevo::action_decision made;
  made.state = Eigen::VectorXd(states);
  for (auto& x : made.state.reshaped()) x = random.normal();
  made.actions = Eigen::MatrixXd(features, actions);
  for (auto& x : made.actions.reshaped()) x = random.normal();
  return made;
}

// A corridor in which action 1 is right where the state is positive, action 0 elsewhere; three steps.
struct signs {
  int step = 0;
  double sign = 1;
  void begin(kevo::rng& random) {
    step = 0;
    sign = random.chance(0.5) ? 1 : -1;
  }
  std::shared_ptr<const kevo::action_decision> decision() const {
    if (step == 3) return nullptr;
    auto made = std::make_shared<kevo::action_decision>();
    made->state = Eigen::VectorXd::Constant(1, sign);
    made->actions = Eigen::MatrixXd::Identity(2, 2);
    return made;
  }
  double act(std::size_t action, kevo::rng& random) {
    const double reward = (action == 1) == (sign > 0) ? 1 : 0;
    ++step;
    sign = random.chance(0.5) ? 1 : -1;
    return reward;
  }
};

}  // namespace

TEST_CASE("the gradient of the loss is that of finite differences") {
  for (const std::size_t hidden : {0U, 5U}) {
    CAPTURE(hidden);
    kevo::rng random(7);
    kevo::action_net net(4, 6, 3, hidden, random.split("net"));
    for (auto& w : net.weights) w += 0.3 * random.normal();
    std::vector<kevo::ppo_step> steps;
    for (std::size_t i = 0; i < 6; ++i) {
      kevo::ppo_step one;
      one.at = std::make_shared<const kevo::action_decision>(some_decision(random, 4, 6, 3 + i % 2));
      one.chosen = random.below(3);
      const Eigen::VectorXd p = net.probabilities(*one.at);
      // Near the old policy, or far from it on either side, so that some steps are clipped.
      one.log_probability = std::log(p(static_cast<Eigen::Index>(one.chosen))) + (i < 2   ? 0.05
                                                                                  : i < 4 ? 0.7
                                                                                          : -0.7);
      one.advantage = random.normal();
      one.target = random.normal();
      steps.push_back(one);
    }
    std::vector<const kevo::ppo_step*> all;
    for (const auto& one : steps) all.push_back(&one);
    const kevo::ppo_settings how{.entropy = 0.1};
    Eigen::VectorXd gradient = Eigen::VectorXd::Zero(net.size());
    kevo::ppo_loss(net, all, how, &gradient);
    CHECK(gradient.norm() > 0.01);
    double worst = 0;
    for (Eigen::Index i = 0; i < net.size(); ++i) {
      constexpr double step = 1e-5;
      const double kept = net.weights(i);
      net.weights(i) = kept + step;
      const double above = kevo::ppo_loss(net, all, how, nullptr);
      net.weights(i) = kept - step;
      const double below = kevo::ppo_loss(net, all, how, nullptr);
      net.weights(i) = kept;
      worst = std::max(worst, std::abs((above - below) / (2 * step) - gradient(i)));
    }
    CHECK(worst < 1e-7);
  }
}

TEST_CASE("advantages of an episode of two steps") {
  std::vector<kevo::ppo_step> episode(2);
  episode[0].reward = 1;
  episode[0].value = 0.5;
  episode[1].reward = 2;
  episode[1].value = 3;
  kevo::estimate_advantages(episode, {.discount = 0.5, .lambda = 0.5});
  CHECK(episode[1].advantage == doctest::Approx(2.0 - 3.0));
  CHECK(episode[0].advantage == doctest::Approx(1 + 0.5 * 3 - 0.5 + 0.25 * -1.0));
  CHECK(episode[1].target == doctest::Approx(2.0));
}

TEST_CASE("PPO learns what depends on the state, the same for the same seed") {
  for (const std::size_t hidden : {0U, 4U}) {
    CAPTURE(hidden);
    const auto trained = [hidden](std::uint64_t seed) {
      kevo::ppo trainer(kevo::action_net(1, 2, 2, hidden), {.episodes = 32, .rate = 0.05}, kevo::rng(seed));
      signs world;
      double mean = 0;
      for (int i = 0; i < 25; ++i) mean = trainer.improve(world);
      return std::pair(mean, trainer.net().weights);
    };
    const auto [mean, weights] = trained(1);
    CHECK(mean > 2.7);  // of 3; uniform choice has 1.5
    CHECK(weights == trained(1).second);
    CHECK(weights != trained(2).second);
  }
}
