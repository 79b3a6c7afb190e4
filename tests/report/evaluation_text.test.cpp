#include "src/report/evaluation_text.hpp"

#include <doctest/doctest.h>

TEST_CASE("what was found is said in one line, and nothing that was not") {
  CHECK(kevo::finding(13.6, {13.4, 13.8}, 13.6, "seed", 2) == "13.60x [13.40, 13.80] over seed");
  CHECK(kevo::finding(2.5, {2.5, 2.5}, 7, "numpy", 2) == "2.50x over numpy, score 7");
  CHECK(kevo::finding(2.5, {}, 2.5, "", 3) == "2.500x over the baseline");
  CHECK(kevo::finding(0, {}, 1001.7, "seed", 2) == "score 1001.7");
  CHECK(kevo::finding(0, {}, 0, "seed", 2).empty());
}
