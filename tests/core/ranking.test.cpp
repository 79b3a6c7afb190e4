// links: core
#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/detail/ranking.hpp>
#include <kevo/random.hpp>

namespace {

using kevo::detail::ranking;

/// The obvious implementation: a sorted vector.
struct naive_ranking {
  std::vector<std::pair<double, std::uint32_t>> order;  // (-score, id)

  void insert(std::uint32_t id, double score) {
    const std::pair<double, std::uint32_t> key(-score, id);
    order.insert(std::lower_bound(order.begin(), order.end(), key), key);
  }
  void erase(std::size_t rank) { order.erase(order.begin() + static_cast<std::ptrdiff_t>(rank)); }
  /// What is added to a score to get a weight, so that weights are positive.
  double shift() const {
    const double best = -order.front().first;
    const double worst = -order.back().first;
    if (worst > 0) return 0;
    return (best > worst ? (best - worst) / static_cast<double>(order.size()) : 1) - worst;
  }
  double total() const {
    double sum = 0;
    for (const auto& [negative, id] : order) sum += shift() - negative;
    return sum;
  }
};

void check_equal(const ranking& fast, const naive_ranking& slow, kevo::rng& random) {
  REQUIRE(fast.size() == slow.order.size());
  CHECK(fast.total() == doctest::Approx(slow.total()).epsilon(1e-12));
  if (slow.order.empty()) return;
  double before = 0;
  const double shift = slow.shift();
  for (std::size_t i = 0; i < slow.order.size(); ++i) {
    const auto [negative, id] = slow.order[i];
    REQUIRE(fast.nth(i) == id);
    REQUIRE(fast.rank(id, -negative) == i);
    const double weight = shift - negative;
    if (random.chance(0.1)) REQUIRE(fast.at_mass(before + weight / 2) == id);
    before += weight;
  }
  CHECK(fast.at_mass(slow.total() * 2) == slow.order.back().second);
}

}  // namespace

TEST_CASE("a ranking agrees with a sorted vector over random streams, ties and all") {
  for (std::uint64_t seed = 0; seed < 7; ++seed) {
    CAPTURE(seed);
    kevo::rng random(seed);
    ranking fast;
    naive_ranking slow;
    std::uint32_t next = 0;
    // Seeds differ in how scores arrive: many ties, uniform, ever better, ever worse, heavy tailed, integers
    // from 0, normal around 0.
    const auto score = [&]() -> double {
      switch (seed) {
        case 0:
          return 1.0 + static_cast<double>(random.below(5));
        case 1:
          return random.uniform();
        case 2:
          return 1.0 + next;
        case 3:
          return 1.0 / (1.0 + next);
        case 4:
          return std::exp(3.0 * random.normal());
        case 5:
          return static_cast<double>(random.below(1000));
        default:
          return random.normal();
      }
    };
    for (int phase = 0; phase < 4; ++phase) {  // grow, shrink, grow, empty: chunks split, merge and vanish
      for (int step = 0; step < 3000; ++step) {
        const double grow = phase % 2 == 0 ? 0.9 : phase == 1 ? 0.2 : 0.0;
        if (random.chance(grow)) {
          const double s = score();
          fast.insert(next, s);
          slow.insert(next++, s);
        } else if (!slow.order.empty()) {
          const std::size_t victim = random.below(slow.order.size());
          fast.erase(slow.order[victim].second, -slow.order[victim].first);
          slow.erase(victim);
        }
      }
      check_equal(fast, slow, random);
    }
    while (!slow.order.empty()) {
      fast.erase(slow.order.back().second, -slow.order.back().first);
      slow.order.pop_back();
    }
    CHECK(fast.empty());
    CHECK(fast.total() == 0);
    fast.insert(7, 2);  // usable again after it was emptied
    CHECK(fast.nth(0) == 7);
  }
}

TEST_CASE("the total of a ranking does not drift") {
  kevo::rng random(3);
  ranking r;
  r.insert(0, 1e-3);
  for (int i = 0; i < 20000; ++i) {  // each round trip through 1e13 would cost a running sum some digits
    const double big = 1e13 * (1 + random.uniform());
    r.insert(1, big);
    r.erase(1, big);
  }
  CHECK(r.total() == 1e-3);
}

TEST_CASE("erasing what is not in a ranking changes nothing") {
  ranking r;
  r.erase(1, 1);
  r.insert(1, 1);
  r.erase(1, 2);
  r.erase(2, 1);
  r.erase(9, 0.5);
  CHECK(r.size() == 1);
  CHECK(r.rank(9, 0.5) == 1);
}
