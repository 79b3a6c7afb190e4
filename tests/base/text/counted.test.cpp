#include "src/base/text/counted.hpp"

#include <doctest/doctest.h>

using namespace kevo;

TEST_CASE("a count has its noun in the plural unless it is 1") {
  CHECK(format::counted(0, "confirmation") == "0 confirmations");
  CHECK(format::counted(1, "confirmation") == "1 confirmation");
  CHECK(format::counted(2, "confirmation") == "2 confirmations");
  CHECK(format::counted(12345, "evaluation") == "12,345 evaluations");
  CHECK(format::noun(1, "proposal") == "proposal");
  CHECK(format::noun(1001, "proposal") == "proposals");
}
