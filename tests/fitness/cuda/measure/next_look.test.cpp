// The pairs of the next look: by the width of the last interval, within what the looks that are left allow.

#include "fitness/cuda/measure/next_look.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/evaluate/statistics.hpp>
#include <kevo/random.hpp>

using namespace kevo::cuda;

TEST_CASE("a wide interval doubles the pairs, one that is nearly narrow enough takes a few more") {
  const auto plan = plan_looks(4, 256);
  CHECK(plan.looks == 9);
  CHECK(pairs_of_next_look(plan, 4, 1, 1.0, 0.02, 0.01) == 8);
  CHECK(pairs_of_next_look(plan, 4, 1, std::numeric_limits<double>::infinity(), 0.02, 0.01) == 8);
  // Of four pairs, the interval is wide because there are few: two more halve it.
  CHECK(pairs_of_next_look(plan, 4, 1, 0.021, 0.02, 0.01) == 5);
  CHECK(pairs_of_next_look(plan, 64, 5, 0.0205, 0.02, 0.01) < 85);
  CHECK(pairs_of_next_look(plan, 64, 5, 0.0205, 0.02, 0.01) > 64);
  CHECK(pairs_of_next_look(plan, 64, 5, 0.06, 0.02, 0.01) == 128);
}

TEST_CASE("the last look has all pairs, however small the steps before it were") {
  for (const int last : {4, 5, 8, 16, 20, 100, 256, 1000}) {
    const auto plan = plan_looks(4, last);
    int pairs = plan.first;
    int number = 1;
    for (; pairs < plan.last; ++number) {
      REQUIRE(number < plan.looks);
      const int next = pairs_of_next_look(plan, pairs, number, 0.02001, 0.02, 0.01);
      CHECK(next > pairs);
      pairs = next;
    }
    CHECK(pairs == last);
    CHECK(number <= plan.looks);
  }
  CHECK(plan_looks(20, 4).last == 20);
  CHECK(plan_looks(20, 4).looks == 1);
}

TEST_CASE("noisy pairs reach the wanted width with fewer than by doubling") {
  kevo::rng random(7);
  const double target = 0.02;
  const double alpha = 0.01;
  const auto plan = plan_looks(4, 256);
  // Pairs until the interval is narrow enough, with a step from one number of pairs to the next.
  const auto pairs_needed = [&](const std::vector<kevo::timing_pair>& pairs, int looks, const auto& next) {
    int done = plan.first;
    for (int number = 1;; ++number) {
      const auto found = kevo::speedup_of({pairs.data(), static_cast<std::size_t>(done)},
                                          kevo::alpha_of_look(alpha, number, looks));
      const double width = (found.range.high - found.range.low) / found.value;
      if (width < target || done >= plan.last) return done;
      done = next(done, number, width);
    }
  };
  double predicted = 0;
  double doubled = 0;
  int missed = 0;
  constexpr int programs = 300;
  for (int i = 0; i < programs; ++i) {
    const double spread = 0.01 * random.uniform(0.3, 3.0);
    std::vector<kevo::timing_pair> pairs;
    for (int n = 0; n < plan.last; ++n) pairs.push_back({1e6 * std::exp(spread * random.normal()), 2e6});
    const int one = pairs_needed(pairs, plan.looks, [&](int done, int number, double width) {
      return pairs_of_next_look(plan, done, number, width, target, alpha);
    });
    predicted += one;
    doubled += pairs_needed(pairs, 7, [](int done, int, double) { return 2 * done; });
    const auto last = kevo::speedup_of({pairs.data(), static_cast<std::size_t>(one)}, alpha);
    missed += last.range.low > 2 || last.range.high < 2 ? 1 : 0;
  }
  CHECK(predicted < 0.9 * doubled);
  CHECK(missed <= 0.03 * programs);
  MESSAGE("pairs: ", predicted / programs, " by prediction, ", doubled / programs, " by doubling; missed ",
          missed);
}
