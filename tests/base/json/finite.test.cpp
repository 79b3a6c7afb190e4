// Numbers that JSON does not have.
#include "src/base/json/finite.hpp"

#include <limits>

#include <boost/json/serialize.hpp>
#include <doctest/doctest.h>

TEST_CASE("what is not finite is null in JSON") {
  const auto text = [](double x) { return boost::json::serialize(kevo::finite_or_null(x)); };
  constexpr double infinity = std::numeric_limits<double>::infinity();
  CHECK(text(infinity) == "null");
  CHECK(text(-infinity) == "null");
  CHECK(text(std::numeric_limits<double>::quiet_NaN()) == "null");
  CHECK(kevo::finite_or_null(2.5) == boost::json::value(2.5));
}
