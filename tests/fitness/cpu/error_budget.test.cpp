// However many looks there are, their error probabilities come to what was given.
#include "fitness/cpu/error_budget.hpp"

#include <vector>

#include <doctest/doctest.h>

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
