// The interval of Wilcoxon's signed-rank distribution.
#include "fitness/cascade/signed_rank.hpp"

#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/random.hpp>

TEST_CASE("how many means are left out agrees with tables of the signed-rank distribution") {
  // Critical values of two-sided tests at 5 %, 1 %: a sum of ranks up to these rejects; one more mean is left
  // out.
  CHECK(kevo::left_out_means(5, 0.05) == 0);
  CHECK(kevo::left_out_means(6, 0.05) == 0 + 1);
  CHECK(kevo::left_out_means(10, 0.05) == 8 + 1);
  CHECK(kevo::left_out_means(10, 0.01) == 3 + 1);
  CHECK(kevo::left_out_means(20, 0.05) == 52 + 1);
  CHECK(kevo::left_out_means(25, 0.01) == 68 + 1);
}

TEST_CASE("intervals miss the center as often as they say, and are narrow where some values are far off") {
  kevo::rng random(11);
  constexpr int tries = 1000;
  int missed = 0;
  int narrower = 0;
  for (int i = 0; i < tries; ++i) {
    std::vector<double> values(30);
    for (auto& x : values) x = random.normal() * (random.chance(0.15) ? 8 : 1);
    const auto e = kevo::signed_rank_location(values, 0.05);
    CHECK(e.range.low <= e.value);
    CHECK(e.value <= e.range.high);
    missed += e.range.low > 0 || e.range.high < 0;
    const auto batches = kevo::location(values, 0.05);
    narrower += e.range.high - e.range.low < batches.range.high - batches.range.low;
  }
  CHECK(missed > 0.03 * tries);
  CHECK(missed < 0.075 * tries);
  CHECK(narrower > 0.7 * tries);
}

TEST_CASE("of few values the interval is that of Student's distribution") {
  const std::vector<double> values = {1, 2, 3, 4, 5, 6, 8};
  const auto e = kevo::signed_rank_location(values, 0.05);
  const auto students = kevo::location(values, 0.05, values.size());
  CHECK(e.range.low == students.range.low);
  CHECK(e.range.high == students.range.high);
}
