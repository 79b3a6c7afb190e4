// links: core
// Scores that stand, against a search through all of them.
#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/detail/latest_scores.hpp>
#include <kevo/random.hpp>

TEST_CASE("the extremes are those of the latest scores, however these change") {
  kevo::rng random(12);
  for (int round = 0; round < 20; ++round) {
    kevo::detail::latest_scores fast;
    std::map<kevo::candidate_id, double> plain;
    for (int i = 0; i < 500; ++i) {
      const auto id = static_cast<kevo::candidate_id>(random.below(40));
      // Few different scores in half of the rounds, so that there are ties and repetitions.
      const double score = round % 2 == 0 ? random.normal() : static_cast<double>(random.below(4)) - 2;
      if (random.chance(0.3)) {
        fast.set(id, std::nullopt);
        plain.erase(id);
      } else {
        fast.set(id, score);
        plain[id] = score;
      }
      REQUIRE(fast.size() == plain.size());
      REQUIRE(fast.empty() == plain.empty());
      for (kevo::candidate_id one = 0; one < 45; ++one) {
        const auto known = plain.find(one);
        REQUIRE(fast.of(one) == (known == plain.end() ? std::nullopt : std::optional(known->second)));
      }
      if (plain.empty()) continue;
      const auto less = [](const auto& a, const auto& b) { return a.second < b.second; };
      const auto best = std::max_element(plain.begin(), plain.end(), less);  // the first of equals
      REQUIRE(fast.best() == best->first);
      REQUIRE(fast.greatest() == best->second);
      REQUIRE(fast.least() == std::min_element(plain.begin(), plain.end(), less)->second);
    }
  }
}
