#include "src/base/text/further_baselines.hpp"

#include <string>
#include <utility>

#include <doctest/doctest.h>

TEST_CASE("a speedup over a further baseline has its interval, or says that it has none") {
  kevo::evaluation e;
  CHECK(kevo::further_speedups(e, false).empty());
  e.other_speedups = {{"cublas", 0.935}, {"older", 1.127}};
  e.other_speedup_intervals = {{"cublas", {0.921, 0.948}}};
  const auto texts = kevo::further_speedups(e, false);
  REQUIRE(texts.size() == 2);
  CHECK(texts[0] == std::pair<std::string, std::string>("cublas", "0.9350x [0.9210 - 0.9480]"));
  CHECK(texts[1] == std::pair<std::string, std::string>("older", "1.127x (no interval)"));
  CHECK(kevo::further_speedups(e, true)[0].second == "0.9350× [0.9210 – 0.9480]");
}
