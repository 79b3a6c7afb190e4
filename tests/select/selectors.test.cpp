// links: core
#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/archive/grid.hpp>
#include <kevo/detail/zipf.hpp>
#include <kevo/select/fitness_proportional.hpp>
#include <kevo/select/greedy.hpp>
#include <kevo/select/power_law.hpp>
#include <kevo/select/tournament.hpp>

#include "tests/select/world.hpp"
#include "tests/support/chi_square.hpp"

namespace {

using kevo::candidate_id;
using kevo::parent_source;
using kevo::test::chi_square_excess;
using kevo::test::world;

// Candidates 0..9: score 0 (failed) for 4 and 7, else distinct.
void fill(world& w) {
  for (const double score : {3.0, 1.0, 8.0, 5.0, 0.0, 2.0, 13.0, 0.0, 0.5, 21.0}) w.add(score);
}
constexpr int times_drawn = 40000;

/// The probability of each candidate of `fill`, from that of its rank (0 the best of 8).
template <class OfRank>
std::vector<double> by_rank(const world& w, OfRank of_rank) {
  std::vector<double> weights(w.all.size());
  for (std::size_t r = 0; r < w.all.ranked(); ++r) weights[w.all.nth_best(r)] = of_rank(r);
  return weights;
}

}  // namespace

TEST_CASE("zipf ranks follow the power law for every exponent and size") {
  kevo::rng random(17);
  for (const double alpha : {0.0, 0.3, 1.0, 1.0 + 1e-10, 2.0, 5.0}) {
    for (const std::uint64_t n : {1ULL, 2ULL, 3ULL, 40ULL}) {
      CAPTURE(alpha);
      CAPTURE(n);
      std::vector<int> counts(n);
      std::vector<double> weights(n);
      for (std::size_t k = 0; k < n; ++k) weights[k] = std::pow(static_cast<double>(k) + 1, -alpha);
      for (int i = 0; i < times_drawn; ++i) ++counts.at(kevo::detail::zipf(n, alpha, random));
      double total = 0;
      for (const double w : weights) total += w;
      // Merge the tail whose expected counts are too small for the test.
      std::vector<int> merged;
      std::vector<double> merged_weights;
      for (std::size_t k = 0; k < n; ++k) {
        if (merged.empty() || merged_weights.back() * times_drawn / total >= 10) {
          merged.push_back(0);
          merged_weights.push_back(0);
        }
        merged.back() += counts[k];
        merged_weights.back() += weights[k];
      }
      if (merged.size() > 1) CHECK(chi_square_excess(merged, merged_weights) < 1);
    }
  }
  for (const double alpha : {0.5, 1.0, 3.0, 60.0}) {  // no rank outside, and the first is the likeliest
    std::set<std::uint64_t> seen;
    for (int i = 0; i < 2000; ++i) {
      const auto rank = kevo::detail::zipf(1'000'000, alpha, random);
      REQUIRE(rank < 1'000'000);
      seen.insert(rank);
    }
    if (alpha >= 1) CHECK(*seen.begin() == 0);
    if (alpha > 50) CHECK(seen.size() == 1);
  }
}

TEST_CASE("each selector times_drawn parents from its distribution, out of population and archive alike") {
  for (const auto from : {parent_source::population, parent_source::archive}) {
    world w;
    fill(w);
    kevo::rng random(1);
    kevo::tournament three{.size = 3, .from = from, .inspirations = {0, 0}};
    CHECK(chi_square_excess(w.count(three, times_drawn, random), by_rank(w, [](std::size_t r) {
                              return std::pow(8.0 - static_cast<double>(r), 3) -
                                     std::pow(7.0 - static_cast<double>(r), 3);
                            })) < 1);
    kevo::tournament one{.size = 1, .from = from, .inspirations = {0, 0}};
    CHECK(chi_square_excess(w.count(one, times_drawn, random), by_rank(w, [](std::size_t) { return 1.0; })) <
          1);
    kevo::power_law law{.alpha = 1.5, .from = from, .inspirations = {0, 0}};
    CHECK(chi_square_excess(w.count(law, times_drawn, random), by_rank(w, [](std::size_t r) {
                              return std::pow(static_cast<double>(r) + 1, -1.5);
                            })) < 1);
    kevo::fitness_proportional roulette{.from = from, .inspirations = {0, 0}};
    CHECK(chi_square_excess(w.count(roulette, times_drawn, random), by_rank(w, [&w](std::size_t r) {
                              return w.all.row(w.all.nth_best(r)).score;
                            })) < 1);
  }
}

TEST_CASE("greedy takes the best, the older one of equals") {
  world w;
  kevo::rng random(1);
  kevo::greedy policy;
  w.add(0);
  w.add(2);
  CHECK(policy.select(w.view(), random).parents == std::vector<candidate_id>{1});
  w.add(4);
  w.add(4);
  CHECK(policy.select(w.view(), random).parents == std::vector<candidate_id>{2});
  w.all.evaluate(2, kevo::outcome::valid, 1);
  CHECK(policy.select(w.view(), random).parents == std::vector<candidate_id>{3});
}

TEST_CASE("parents come from the archive while it has elites, from the population else") {
  kevo::rng random(3);
  world w{kevo::top_k(2)};
  fill(w);
  kevo::tournament policy{.size = 1, .from = parent_source::archive, .inspirations = {0, 0}};
  const auto counts = w.count(policy, 2000, random);
  CHECK(counts[9] + counts[6] == 2000);
  w.kept.remove(9);
  w.kept.remove(6);
  const auto all = w.count(policy, 2000, random);
  CHECK(all[9] + all[6] < 1000);
  w.kept = {};  // no archive at all
  CHECK_NOTHROW(w.count(policy, 10, random));
}

TEST_CASE("inspirations are the best and random elites, never a parent, never one twice") {
  world w{kevo::grid({{"m", 20, 0, 20}})};
  for (int i = 0; i < 20; ++i) w.add(1.0 + (i * 7) % 20, {}, {i + 0.5});
  kevo::rng random(6);
  kevo::greedy policy{.inspirations = {.top = 2, .diverse = 3}};
  std::vector<int> counts(20);
  for (int i = 0; i < 8000; ++i) {
    const auto chosen = policy.select(w.view(), random);
    const auto& shown = chosen.inspirations;
    REQUIRE(shown.size() == 5);
    CHECK(shown[0] == w.all.nth_best(1));  // the best is the parent
    CHECK(shown[1] == w.all.nth_best(2));
    std::set<candidate_id> distinct(shown.begin(), shown.end());
    distinct.insert(chosen.parents[0]);
    CHECK(distinct.size() == 6);
    for (std::size_t k = 2; k < shown.size(); ++k) ++counts[shown[k]];
  }
  std::vector<double> weights(20, 1);
  for (std::size_t r = 0; r < 3; ++r) weights[w.all.nth_best(r)] = 0;
  CHECK(chi_square_excess(counts, weights) < 1);

  world small;  // fewer candidates than asked for
  small.add(1);
  CHECK(policy.select(small.view(), random).inspirations.empty());
  small.add(2);
  CHECK(policy.select(small.view(), random).inspirations == std::vector<candidate_id>{0});
}

TEST_CASE("neighbours lie in the nearest cells of a grid, contrastive ones in the worse half") {
  kevo::rng random(24);
  for (const std::size_t axes : {1U, 2U, 3U}) {
    std::vector<kevo::grid_axis> shape;
    for (std::size_t i = 0; i < axes; ++i)
      shape.push_back({std::string(1, static_cast<char>('a' + i)), 7, 0, 7});
    world w{kevo::grid(shape)};
    for (int i = 0; i < 150; ++i) {
      std::vector<double> m;
      for (std::size_t k = 0; k < axes; ++k) m.push_back(random.chance(0.05) ? NAN : random.uniform(0, 7));
      w.add(random.uniform(1, 9), {}, m);
    }
    const auto* cells = w.kept.as<kevo::grid>();
    for (std::size_t i = 0; i < w.kept.size(); ++i) {
      const kevo::elite home = w.kept.at(i);
      std::vector<std::pair<std::size_t, candidate_id>> near;  // by looking at everybody
      for (std::size_t k = 0; k < w.kept.size(); ++k) {
        const kevo::elite other = w.kept.at(k);
        const auto a = cells->bins_of(home.cell), b = cells->bins_of(other.cell);
        std::size_t sum = 0;
        bool inside = other.id != home.id;
        for (std::size_t x = 0; x < axes; ++x) {
          const std::size_t apart = std::max(a[x], b[x]) - std::min(a[x], b[x]);
          inside = inside && apart <= 2 && (apart == 0 || std::max(a[x], b[x]) < 7);
          sum += apart * apart;
        }
        if (inside) near.emplace_back(sum, other.id);
      }
      std::sort(near.begin(), near.end());
      std::vector<candidate_id> expected;
      for (const auto& [sum, id] : near) expected.push_back(id);
      REQUIRE(w.kept.neighbours(home.id, 1000) == expected);
      kevo::selection chosen;
      chosen.parents = {home.id};
      kevo::inspirations{.top = 2, .diverse = 0, .neighbours = 3}.add_to(chosen, w.view(), random);
      std::erase_if(expected, [&](candidate_id id) {
        return id == chosen.inspirations[0] || id == chosen.inspirations[1];
      });
      expected.resize(std::min<std::size_t>(3, expected.size()));
      CHECK(std::vector<candidate_id>(chosen.inspirations.begin() + 2, chosen.inspirations.end()) ==
            expected);
    }
  }
  world w;
  for (int i = 0; i < 9; ++i) w.add(1.0 + i);
  std::vector<int> counts(9);
  for (int i = 0; i < 8000; ++i) {
    const auto chosen = kevo::greedy{.inspirations = {0, 0, 0, 1}}.select(w.view(), random);
    REQUIRE(chosen.inspirations.size() == 1);
    ++counts[chosen.inspirations.front()];
  }
  CHECK(kevo::test::chi_square_excess(counts, std::vector<double>{1, 1, 1, 1, 0, 0, 0, 0, 0}) < 1);
}

TEST_CASE("a copied selector has the same future") {
  world w;
  fill(w);
  const auto check = [&w](kevo::any_selector policy) {
    kevo::rng random(8), other(8);
    for (int i = 0; i < 50; ++i) policy.select(w.view(), random), other = random;
    kevo::any_selector copy = policy;
    for (int i = 0; i < 1000; ++i) CHECK(policy.select(w.view(), random) == copy.select(w.view(), other));
  };
  check(kevo::greedy{});
  check(kevo::tournament{});
  check(kevo::power_law{});
  check(kevo::fitness_proportional{});
}

TEST_CASE("selectors hand on the memory scope they were given") {
  world w;
  fill(w);
  kevo::rng random(1);
  CHECK(kevo::greedy{.scope = kevo::memory_scope::clean_slate}.select(w.view(), random).scope ==
        kevo::memory_scope::clean_slate);
  CHECK(kevo::power_law{.scope = kevo::memory_scope::both}.select(w.view(), random).scope ==
        kevo::memory_scope::both);
}
