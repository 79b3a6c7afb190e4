#include "src/report/format.hpp"

#include <limits>

#include <doctest/doctest.h>

#include "src/report/evaluation_text.hpp"

namespace format = kevo::format;

TEST_CASE("a score keeps the digits by which candidates differ") {
  CHECK(format::score(1001.7) == "1001.7");
  CHECK(format::score(8) == "8");
  CHECK(format::score(1e-9) == "1e-09");
  CHECK(format::score(std::numeric_limits<double>::infinity()) == "-");
}

TEST_CASE("a figure is a speedup where there is one, else a score") {
  CHECK(format::figure(13.62, 13.62, false) == "13.62x");
  CHECK(format::figure(2.5, 7, true) == "2.500×");
  CHECK(format::figure(0, 1001.7, true) == "score 1001.7");
  CHECK(format::figure(0, 0, false) == "-");
  CHECK(format::bare_figure(13.62, true, false) == "13.62x");
  CHECK(format::bare_figure(1001.7, false, false) == "1001.7");
  CHECK(format::bare_figure(0, false, false) == "-");
}

TEST_CASE("what was found is said in one line, and nothing that was not") {
  CHECK(kevo::finding(13.6, {13.4, 13.8}, 13.6, "seed", 2) == "13.60x [13.40, 13.80] over seed");
  CHECK(kevo::finding(2.5, {2.5, 2.5}, 7, "numpy", 2) == "2.50x over numpy, score 7");
  CHECK(kevo::finding(2.5, {}, 2.5, "", 3) == "2.500x over the baseline");
  CHECK(kevo::finding(0, {}, 1001.7, "seed", 2) == "score 1001.7");
  CHECK(kevo::finding(0, {}, 0, "seed", 2).empty());
}
