// When a timing may end, and that its interval holds nevertheless.
#include "fitness/cpu/looks.hpp"

#include <cmath>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/random.hpp>

#include "fitness/cascade/signed_rank.hpp"
#include "fitness/cpu/error_budget.hpp"

namespace {

kevo::timing_budget quick() {
  kevo::timing_budget budget;
  budget.short_s = 0.05;
  budget.full_s = 0.1;
  budget.target_interval = 0.04;
  return budget;
}

// Differences between pairs, as logarithms: of a quiet machine, with some that are far off, or that lie to
// one side.
double noise(kevo::rng& random, int kind) {
  const double usual = 0.01 * random.normal();
  if (kind == 1 && random.chance(0.1)) return usual + 0.1 * random.normal();
  if (kind == 2) return usual + 0.01 * (-std::log(1 - random.uniform()) - std::log(2.0));
  return usual;
}

struct outcome {
  bool misses = false;
  std::size_t pairs = 0;
};

// A timing of one workload whose pairs all take `pair_s`, and whose true speedup is 1, as time_candidate.cpp
// makes it.
outcome timed(const std::vector<kevo::planned_look>& plan, double pair_s, double target, kevo::rng& random,
              int kind) {
  std::vector<double> ratios;
  kevo::error_budget errors(0.01, plan.back().pairs);
  kevo::estimate e;
  for (std::size_t number = 0; number < plan.size(); ++number) {
    const auto& wanted = plan[number];
    const auto spent = [&] { return pair_s * static_cast<double>(ratios.size()); };
    while (static_cast<int>(ratios.size()) < wanted.pairs) {
      if (spent() > wanted.seconds && static_cast<int>(ratios.size()) >= wanted.least) break;
      ratios.push_back(std::exp(noise(random, kind)));
    }
    const bool late = wanted.last_by_time && spent() > wanted.seconds;
    e = kevo::positive_signed_rank(ratios, errors.next(wanted.pairs, late || number + 1 == plan.size()));
    if (late || e.range.high - e.range.low < target * e.value) break;
  }
  return {e.range.low > 1 || e.range.high < 1, ratios.size()};
}

}  // namespace

TEST_CASE("an ordinary timing has four pairs at first, and six where there is time for them") {
  const auto looks = kevo::ordinary_looks(quick(), 0.02);
  REQUIRE(looks.size() >= 2);
  CHECK(looks.front().least == 4);
  CHECK_FALSE(looks.front().last_by_time);
  for (std::size_t i = 1; i < looks.size(); ++i) {
    CHECK(looks[i].least == 6);
    CHECK(looks[i].pairs > looks[i - 1].pairs);
  }
  CHECK(looks.back().pairs == 40);
  // Two more pairs of a fifth of a second each would take four times as long as there is.
  for (const auto& one : kevo::ordinary_looks(quick(), 0.2)) CHECK(one.least == 4);
}

TEST_CASE("no pair begins that would end after the time for them") {
  CHECK_FALSE(kevo::time_is_over(0, 0, 2));
  CHECK_FALSE(kevo::time_is_over(7, 7 * 0.24, 2));
  CHECK(kevo::time_is_over(8, 8 * 0.24, 2));  // a ninth pair would end at 2.16 s
  CHECK(kevo::time_is_over(0, 2.5, 2));
}

TEST_CASE("a confirmation has ten pairs before it ends, or five and eight where pairs take long") {
  const auto usual = kevo::confirming_looks(quick(), 0.02, 6);
  REQUIRE(usual.size() == 3);
  CHECK(usual.front().pairs == 10);
  CHECK(usual.front().least == 8);
  const auto long_pairs = kevo::confirming_looks(quick(), 0.2, 6);
  REQUIRE(long_pairs.size() == 2);
  CHECK(long_pairs.front().pairs == 5);
  CHECK(long_pairs.front().least == 5);
  CHECK_FALSE(long_pairs.front().last_by_time);
  CHECK(long_pairs.back().least == 8);
  kevo::error_budget errors(0.01, long_pairs.back().pairs);
  CHECK(errors.next(long_pairs.front().pairs, false) == doctest::Approx(0.005));
  // Pairs of single processes are all needed.
  CHECK(kevo::confirming_looks(quick(), 0.2, 1).front().least == 8);
  // Settings that ask for few pairs are kept.
  auto few = quick();
  few.full_blocks = 6;
  REQUIRE(kevo::confirming_looks(few, 0.2, 6).size() == 1);
  CHECK(kevo::confirming_looks(few, 0.2, 6).front().pairs == 6);
}

TEST_CASE("the interval of a confirmation misses in at most one of a hundred, also where it ends early") {
  constexpr int tries = 20000;
  for (const int kind : {0, 1, 2}) {
    for (const double pair_s : {0.02, 0.2}) {
      const auto plan = kevo::confirming_looks(quick(), pair_s, 6);
      kevo::rng random(17 + static_cast<std::uint64_t>(kind));
      int misses = 0;
      int early = 0;
      for (int i = 0; i < tries; ++i) {
        const auto one = timed(plan, pair_s, 0.04, random, kind);
        misses += one.misses ? 1 : 0;
        early += one.pairs == 5 ? 1 : 0;
      }
      INFO("noise " << kind << ", pairs of " << pair_s << " s: " << misses << " of " << tries << ", early "
                    << early);
      // 200 are expected of intervals that say what they are; three standard deviations are 42.
      CHECK(misses <= 242);
      if (pair_s > 0.1) CHECK(early > tries / 10);
    }
  }
}
