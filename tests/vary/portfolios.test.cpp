// links: core
#include <array>
#include <cmath>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/vary/adaptive_pursuit.hpp>
#include <kevo/vary/exp3.hpp>
#include <kevo/vary/fixed.hpp>
#include <kevo/vary/thompson.hpp>
#include <kevo/vary/ucb1.hpp>
#include <kevo/vary/uniform.hpp>

#include "tests/support/chi_square.hpp"

namespace {

constexpr std::array<bool, 3> all3 = {true, true, true};

/// Plays `turns` turns; operator i earns `rewards[i]` on average (half the turns nothing) and costs
/// `costs[i]`.
template <class Portfolio>
std::vector<int> play(Portfolio& policy, std::array<double, 3> rewards, std::array<double, 3> costs,
                      int turns, kevo::rng& random) {
  std::vector<int> counts(3);
  for (int t = 0; t < turns; ++t) {
    const std::size_t i = policy.pick(all3, random);
    ++counts.at(i);
    policy.observe({i, random.chance(0.5) ? 2 * rewards[i] : 0, costs[i]});
  }
  return counts;
}

}  // namespace

TEST_CASE("the uniform portfolio is uniform over what is available") {
  kevo::uniform_portfolio policy;
  kevo::rng random(1);
  const std::array<bool, 4> available = {true, false, true, true};
  std::vector<int> counts(4);
  for (int i = 0; i < 20000; ++i) {
    const auto chosen = policy.pick(available, random);
    ++counts.at(chosen);
    policy.observe({chosen, 1.0, 2.0});
  }
  CHECK(kevo::test::chi_square_excess(counts, std::vector<double>{1, 0, 1, 1}) < 1);
  CHECK(policy.credits()[0].mean_reward == 1.0);
  CHECK(policy.credits()[0].cost_s == 2.0);
  CHECK(policy.credits()[0].probability == 0.25);
  CHECK(policy.credits()[2].pulls == counts[2]);
}

TEST_CASE("the fixed portfolio keeps its weights among what is available") {
  kevo::fixed_portfolio policy({0.6, 0.3});  // the third has no weight of its own: 1
  kevo::rng random(11);
  const auto draw = [&](const std::array<bool, 3>& available) {
    std::vector<int> counts(3);
    for (int i = 0; i < 20000; ++i) ++counts.at(policy.pick(available, random));
    return counts;
  };
  CHECK(kevo::test::chi_square_excess(draw(all3), std::vector<double>{0.6, 0.3, 1}) < 1);
  CHECK(kevo::test::chi_square_excess(draw({true, true, false}), std::vector<double>{2, 1, 0}) < 1);
  policy.observe({1, 1.0, 2.0});
  CHECK(policy.credits()[0].probability == doctest::Approx(0.6 / 1.9));
  kevo::fixed_portfolio none({0, 0, 0});
  for (int i = 0; i < 20; ++i) CHECK(none.pick(std::array<bool, 3>{false, true, false}, random) == 1);
}

TEST_CASE("ucb1 tries all, then favours gain per cost and keeps the floor") {
  kevo::rng random(2);
  kevo::ucb1 policy;
  policy.floor = 0.08;
  // The second earns most per turn, but the third most per second.
  const auto counts = play(policy, {0.01, 0.10, 0.05}, {1.0, 10.0, 1.0}, 20000, random);
  CHECK(counts[2] > 0.7 * 20000);
  for (const int n : counts) CHECK(n > 0.08 * 20000 * 0.9);
  const auto credits = policy.credits();
  CHECK(credits[0].probability == doctest::Approx(0.08));
  CHECK(credits[2].probability == doctest::Approx(0.84));
  CHECK(credits[1].mean_reward == doctest::Approx(0.1).epsilon(0.1));
  CHECK(credits[1].cost_s == doctest::Approx(10));
}

TEST_CASE("the scale of rewards and costs does not matter to ucb1") {
  kevo::rng a(3), b(3);
  kevo::ucb1 small, large;
  const auto x = play(small, {1, 2, 4}, {1, 1, 2}, 3000, a);
  const auto y = play(large, {1024, 2048, 4096}, {4096, 4096, 8192}, 3000, b);
  CHECK(x == y);
}

TEST_CASE("ucb1 spreads turns that run at once, and never picks what is not available") {
  kevo::rng random(4);
  kevo::ucb1 policy;
  policy.floor = 0;
  std::vector<int> out(3);
  for (int i = 0; i < 30; ++i) ++out[policy.pick(all3, random)];  // nothing has come back yet
  CHECK(out == std::vector<int>{10, 10, 10});
  const std::array<bool, 3> last = {false, false, true};
  for (int i = 0; i < 20; ++i) CHECK(policy.pick(last, random) == 2);
}

TEST_CASE("without any reward ucb1 shares turns evenly, and a free operator does not divide by zero") {
  kevo::rng random(5);
  kevo::ucb1 policy;
  const auto counts = play(policy, {0, 0, 0}, {0, 1, 5}, 3000, random);
  for (const int n : counts) CHECK(std::abs(n - 1000) < 60);
  kevo::ucb1 free;
  play(free, {1, 1, 1}, {0, 0, 0}, 300, random);
  for (const auto& c : free.credits()) CHECK(std::isfinite(c.probability));
}

TEST_CASE("turns of an earlier session count when they are replayed without picks") {
  kevo::ucb1 policy;
  kevo::rng random(6);
  for (int i = 0; i < 50; ++i) policy.observe({1, 0.5, 1});
  CHECK(policy.credits().size() == 2);
  CHECK(policy.credits()[1].pulls == 50);
  CHECK(policy.pick(all3, random) != 1);  // the others are untried
}

TEST_CASE("every learning portfolio finds the operator of greatest gain per cost, whatever the units") {
  const auto check = [](auto policy, double share) {
    for (const double unit : {1.0, 1e-4}) {
      auto mine = policy;
      kevo::rng random(21);
      const auto counts =
          play(mine, {0.01 * unit, 0.10 * unit, 0.05 * unit}, {1.0, 10.0, 1.0}, 20000, random);
      CAPTURE(counts[0]);
      CAPTURE(counts[1]);
      CHECK(counts[2] > share * 20000);
      for (const int n : counts) CHECK(n > 0.02 * 20000);  // none starves
      double sum = 0;
      for (const auto& c : mine.credits()) sum += c.probability;
      CHECK(sum == doctest::Approx(1));
      CHECK(mine.credits()[2].probability > mine.credits()[0].probability);
    }
  };
  check(kevo::ucb1{}, 0.7);
  check(kevo::thompson{}, 0.75);
  check(kevo::exp3{}, 0.75);
  check(kevo::adaptive_pursuit{}, 0.35);  // half its turns earn nothing, and alpha is 0.8
}

TEST_CASE("exp3 and adaptive pursuit turn round when the best operator changes") {
  const auto check = [](auto policy) {
    kevo::rng random(22);
    play(policy, {1, 0, 0}, {1, 1, 1}, 1500, random);
    play(policy, {0, 0, 1}, {1, 1, 1}, 3000, random);
    const auto counts = play(policy, {0, 0, 1}, {1, 1, 1}, 1000, random);
    CHECK(counts[2] > 700);
  };
  check(kevo::exp3{});
  check(kevo::adaptive_pursuit{});
}

TEST_CASE("exp3 credits a late result at the probability of its pick") {
  kevo::exp3 late;
  kevo::rng a(23);
  const std::array<bool, 2> both = {true, true};
  std::vector<std::size_t> picks;
  for (int i = 0; i < 50; ++i) picks.push_back(late.pick(both, a));  // all at one half
  for (const auto i : picks) late.observe({i, i == 0 ? 1.0 : 0.0, 1});
  double zeros = 0;
  for (const auto i : picks) zeros += i == 0 ? 1 : 0;
  // 50 picks at p = 1/2, K = 2: the weight of operator 0 is exp(gamma * zeros).
  const double w = std::exp(0.1 * zeros);
  CHECK(late.credits()[0].probability == doctest::Approx(0.9 * w / (w + 1) + 0.05));
}

TEST_CASE("portfolios draw by the probabilities that they tell, and Thompson by its beliefs") {
  const auto count = [](const auto& policy) {
    std::vector<int> counts(3);
    kevo::rng random(25);
    for (int i = 0; i < 20000; ++i) {
      auto copy = policy;  // a pick is remembered
      ++counts[copy.pick(all3, random)];
    }
    return counts;
  };
  const auto told = [&](auto policy) {
    kevo::rng random(26);
    play(policy, {0.5, 1, 0.2}, {1, 1, 1}, 40, random);
    std::vector<double> weights;
    for (const auto& c : policy.credits()) weights.push_back(c.probability);
    CHECK(kevo::test::chi_square_excess(count(policy), weights) < 1);
  };
  kevo::ucb1 eager;
  eager.floor = 0.2;
  told(eager);
  told(kevo::exp3{});
  told(kevo::adaptive_pursuit{});

  kevo::thompson belief;
  for (const auto& [index, reward] : std::vector<std::pair<std::size_t, double>>{
           {0, 1}, {0, 1}, {0, 1}, {0, 0}, {1, 1}, {1, 0}, {1, 0}, {2, 0}, {2, 0}, {2, 0}}) {
    belief.observe({index, reward, 1});
  }
  // Beta(4, 2), Beta(2, 3), Beta(1, 4), all of the same gain: the chance that each is the greatest, by a sum.
  const auto density = [](double a, double b, double x) {
    return std::pow(x, a - 1) * std::pow(1 - x, b - 1);
  };
  const std::array<std::pair<double, double>, 3> shapes = {{{4, 2}, {2, 3}, {1, 4}}};
  constexpr int steps = 20000;
  std::array<double, 3> below{}, total{}, wins{};
  for (std::size_t i = 0; i < 3; ++i) {
    for (int k = 0; k < steps; ++k) total[i] += density(shapes[i].first, shapes[i].second, (k + 0.5) / steps);
  }
  for (int k = 0; k < steps; ++k) {
    std::array<double, 3> here{};
    for (std::size_t i = 0; i < 3; ++i) {
      here[i] = density(shapes[i].first, shapes[i].second, (k + 0.5) / steps) / total[i];
      below[i] += here[i] / 2;
    }
    for (std::size_t i = 0; i < 3; ++i) wins[i] += here[i] * below[(i + 1) % 3] * below[(i + 2) % 3];
    for (std::size_t i = 0; i < 3; ++i) below[i] += here[i] / 2;
  }
  std::vector<double> weights;
  for (const double w : wins) weights.push_back(0.05 + 0.85 * w);
  CHECK(kevo::test::chi_square_excess(count(belief), weights) < 1);
}

TEST_CASE("learning portfolios never pick what is not available") {
  const auto check = [](kevo::any_portfolio policy) {
    kevo::rng random(24);
    const std::array<bool, 3> some = {false, true, true};
    for (int i = 0; i < 2000; ++i) {
      const auto chosen = i % 2 == 0 ? policy.pick(some, random) : policy.pick(all3, random);
      if (i % 2 == 0) REQUIRE(chosen != 0);
      policy.observe({chosen, chosen == 0 ? 1.0 : 0.001, 1});
    }
  };
  check(kevo::ucb1{});
  check(kevo::thompson{});
  check(kevo::exp3{});
  check(kevo::adaptive_pursuit{});
}

TEST_CASE("a copied portfolio has the same future") {
  const auto check = [](kevo::any_portfolio policy) {
    kevo::rng random(7);
    play(policy, {1, 2, 3}, {1, 1, 1}, 100, random);
    kevo::any_portfolio copy = policy;
    kevo::rng other = random;
    CHECK(play(policy, {1, 2, 3}, {1, 1, 1}, 1000, random) == play(copy, {1, 2, 3}, {1, 1, 1}, 1000, other));
  };
  check(kevo::ucb1{});
  check(kevo::uniform_portfolio{});
  check(kevo::thompson{});
  check(kevo::exp3{});
  check(kevo::adaptive_pursuit{});
}
