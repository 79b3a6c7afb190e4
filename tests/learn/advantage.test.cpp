// links: core
// Advantages against numbers worked by hand, and against a bandit whose gradient is known.

#include <array>
#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/learn/advantage.hpp>
#include <kevo/random.hpp>

namespace {

using namespace kevo;

TEST_CASE("returns add what follows") {
  const std::vector<double> rewards = {1, 2, 4};
  CHECK(returns_of(rewards) == std::vector<double>{7, 6, 4});
  CHECK(returns_of(rewards, 0.5) == std::vector<double>{3, 4, 4});
  CHECK(returns_of({}).empty());
}

TEST_CASE("GRPO and TRLOO against numbers worked by hand") {
  const std::vector<double> rewards = {1, 2, 6};  // mean 3, deviation sqrt(14 / 3)
  const auto grpo = grpo_advantages(rewards);
  CHECK(grpo[0] == doctest::Approx(-2 / std::sqrt(14.0 / 3)));
  CHECK(grpo[2] == doctest::Approx(3 / std::sqrt(14.0 / 3)));
  CHECK(trloo_advantages(rewards) == std::vector<double>{-3, -1.5, 4.5});  // less 4, 3.5 and 1.5
  CHECK(grpo_advantages(std::vector<double>{2, 2}) == std::vector<double>{0, 0});
  CHECK(trloo_advantages(std::vector<double>{5}) == std::vector<double>{5});
  CHECK(smoothed_rewards(std::vector<double>{0, 0, 0, 0, 0, 10}).back() == 1.5);
}

// A bandit of two arms, chosen by a sigmoid of theta; arm 1 pays 1, arm 0 pays 0. The gradient of the
// expected reward by theta is p (1 - p). An estimate is the mean over a group of advantage times (chosen -
// p).
TEST_CASE("TRLOO's gradient is unbiased, and the group's mean as baseline shrinks it by 1 - 1 / n") {
  constexpr std::size_t n = 4;
  const double theta = 0.4;
  const double p = 1 / (1 + std::exp(-theta));
  const double truth = p * (1 - p);
  rng random(7);
  constexpr int groups = 200000;
  double trloo = 0;
  double trloo_squares = 0;
  double centred = 0;
  for (int g = 0; g < groups; ++g) {
    std::array<double, n> rewards{};
    for (double& r : rewards) r = random.chance(p) ? 1 : 0;
    const auto advantages = trloo_advantages(rewards);
    double of_group = 0;
    double of_mean = 0;
    const double mean = (rewards[0] + rewards[1] + rewards[2] + rewards[3]) / n;
    for (std::size_t i = 0; i < n; ++i) {
      of_group += advantages[i] * (rewards[i] - p) / n;
      of_mean += (rewards[i] - mean) * (rewards[i] - p) / n;
    }
    trloo += of_group;
    trloo_squares += of_group * of_group;
    centred += of_mean;
  }
  trloo /= groups;
  centred /= groups;
  const double error = std::sqrt((trloo_squares / groups - trloo * trloo) / groups);
  CHECK(std::abs(trloo - truth) < 4 * error);
  CHECK(std::abs(centred - truth * (1 - 1.0 / n)) < 4 * error);
  CHECK(std::abs(centred - truth) > 20 * error);
}

TEST_CASE("PRS keeps by the share of own kernels, MRS by the ratio of probabilities") {
  CHECK(prs_keep_probability(true, 0.2) == 0);
  CHECK(prs_keep_probability(true, 0.35) == doctest::Approx(0.5));
  CHECK(prs_keep_probability(true, 0.9) == 1);
  CHECK(prs_keep_probability(false, 0) == 1);
  const std::vector<double> sampled = {-1, -2, -3};
  CHECK(mrs_keeps(sampled, sampled));
  CHECK(mrs_keeps(std::vector<double>{-1.0005, -2, -2.9995}, sampled));
  CHECK_FALSE(mrs_keeps(std::vector<double>{-1.01, -2, -3}, sampled));
  CHECK_FALSE(mrs_keeps(std::vector<double>{-11, 3, 2}, sampled));  // the mean agrees, one token does not
  CHECK_FALSE(mrs_keeps({}, {}));
}

TEST_CASE("preferences rest on intervals that do not overlap") {
  const std::vector<sibling> group = {
      {true, {1.0, 1.2}}, {true, {1.1, 1.5}}, {true, {1.3, 1.6}}, {false, {}}};
  using pairs = std::vector<std::pair<std::size_t, std::size_t>>;
  CHECK(preference_pairs(group) == pairs{{0, 3}, {1, 3}, {2, 0}, {2, 3}});
}

}  // namespace
