#include "src/report/ticks.hpp"

#include <algorithm>

#include <doctest/doctest.h>

using kevo::html::linear_ticks;
using kevo::html::log_ticks;

TEST_CASE("linear ticks are round and include both ends of a share") {
  const auto share = linear_ticks(0, 1, 6);
  REQUIRE(share.size() == 6);
  CHECK(share.front() == 0);
  CHECK(share.back() == doctest::Approx(1));
  const auto below = linear_ticks(-0.3, 1, 6);
  CHECK(std::count(below.begin(), below.end(), 1.0) == 1);
  CHECK(std::count(below.begin(), below.end(), 0.0) == 1);
}

TEST_CASE("logarithmic ticks lie within the axis and contain 1") {
  const auto ticks = log_ticks(0.3, 40);
  CHECK(std::is_sorted(ticks.begin(), ticks.end()));
  CHECK(ticks.front() >= 0.3 * 0.999);
  CHECK(ticks.back() <= 40 * 1.001);
  CHECK(std::any_of(ticks.begin(), ticks.end(), [](double t) { return t == doctest::Approx(1); }));
}
