// However many looks there are, their error probabilities come to what was given.
#include "fitness/cpu/error_budget.hpp"

#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/random.hpp>

#include "fitness/cascade/signed_rank.hpp"

TEST_CASE("the parts of all looks sum to the whole, whichever look is the last") {
  const std::vector<int> plan = {5, 12, 30, 40};
  for (std::size_t last = 0; last < plan.size(); ++last) {
    kevo::error_budget errors(0.01, plan.back());
    double sum = 0;
    for (std::size_t i = 0; i <= last; ++i) {
      const double part = errors.next(plan[i], i == last);
      CHECK(part > 0);
      sum += part;
    }
    CHECK(sum == doctest::Approx(0.01));
  }
}

TEST_CASE("the first look has enough to turn a candidate away, and the last one the most") {
  kevo::error_budget errors(0.01, 40);
  const double first = errors.next(5, false);
  const double second = errors.next(12, false);
  CHECK(first > 0.003);
  CHECK(second > 0.001);
  CHECK(errors.next(40, false) > first);
}

namespace {

// Where the memory of a process lies makes most of them differ by little and a few by much. [log of a time]
double placement(kevo::rng& random) {
  return 0.004 * random.normal() + (random.chance(0.08) ? 0.02 : 0);
}

// Whether the interval of a program against itself misses 1, by the looks of a full timing.
bool misses(kevo::rng& random, bool placed_once) {
  const std::vector<int> plan = {5, 12, 30, 40};
  constexpr double target = 0.02;
  const double candidate = placement(random);
  const double baseline = placement(random);
  kevo::error_budget errors(0.01, plan.back());
  std::vector<double> ratios;
  kevo::estimate speedup;
  for (const int pairs : plan) {
    while (ratios.size() < static_cast<std::size_t>(pairs)) {
      const double places = placed_once ? baseline - candidate : placement(random) - placement(random);
      const double neighbours = random.chance(0.1) ? 0.05 * random.normal() : 0;
      ratios.push_back(std::exp(places + 0.01 * random.normal() + neighbours));
    }
    speedup = kevo::positive_signed_rank(ratios, errors.next(pairs, pairs == plan.back()));
    if (pairs > plan.front() && speedup.range.high - speedup.range.low < target) break;
  }
  return speedup.range.low > 1 || speedup.range.high < 1;
}

}  // namespace

TEST_CASE(
    "intervals hold where each process has its memory elsewhere, and not where all of a program share "
    "theirs") {
  kevo::rng random(14);
  constexpr int tries = 1500;
  int missed = 0;
  int missed_when_placed_once = 0;
  for (int i = 0; i < tries; ++i) {
    missed += misses(random, false) ? 1 : 0;
    missed_when_placed_once += misses(random, true) ? 1 : 0;
  }
  CHECK(missed <= 0.01 * tries);
  // What no interval from pairs can show: why workers take pages of their own.
  CHECK(missed_when_placed_once > 0.03 * tries);
}
