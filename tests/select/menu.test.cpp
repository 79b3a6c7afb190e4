// links: core
// The selectors of published systems: each against its definition.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/archive/grid.hpp>
#include <kevo/select/adaptive_intensity.hpp>
#include <kevo/select/bucket_softmax.hpp>
#include <kevo/select/curiosity.hpp>
#include <kevo/select/island_mix.hpp>
#include <kevo/select/lineage.hpp>
#include <kevo/select/priority_queue.hpp>
#include <kevo/select/uct.hpp>
#include <kevo/select/uniform.hpp>
#include <kevo/select/weighted.hpp>

#include "tests/select/played.hpp"
#include "tests/select/world.hpp"
#include "tests/support/chi_square.hpp"

namespace {

using kevo::candidate_id;
using kevo::parent_source;
using kevo::test::chi_square_excess;
using kevo::test::grow;
using kevo::test::measure_again;
using kevo::test::search;
using kevo::test::world;
using ids = std::vector<candidate_id>;

constexpr int draws = 40000;

static_assert(kevo::selector<kevo::weighted> && kevo::selector<kevo::uniform>);
static_assert(kevo::selector<kevo::curiosity> && kevo::selector<kevo::lineage>);
static_assert(kevo::selector<kevo::adaptive_intensity> && kevo::selector<kevo::bucket_softmax>);
static_assert(kevo::selector<kevo::priority_queue> && kevo::selector<kevo::island_mix>);

}  // namespace

TEST_CASE("the deviation of ranked scores is their median absolute deviation") {
  kevo::rng random(31);
  for (int round = 0; round < 400; ++round) {
    std::vector<double> scores(1 + random.below(30));
    for (double& s : scores) s = round % 2 == 0 ? random.uniform() : static_cast<double>(random.below(6));
    std::sort(scores.rbegin(), scores.rend());
    const double median = scores[scores.size() / 2];
    std::vector<double> away;
    for (const double s : scores) away.push_back(std::abs(s - median));
    std::sort(away.begin(), away.end());
    CHECK(kevo::weighted::deviation(scores.size(), median, [&](std::size_t r) { return scores[r]; }) ==
          doctest::Approx(away[away.size() / 2]).epsilon(1e-12));
  }
}

TEST_CASE("weighted follows ShinkaEvolve's formula") {
  for (const auto from : {parent_source::population, parent_source::archive}) {
    world w;
    for (const double score : {2.0, 2.1, 1.9, 2.4, 0.0, 1.2, 2.05}) w.add(score);
    for (int i = 0; i < 3; ++i) w.add(0, {3});  // the best has children already
    w.add(0, {1});
    // Scores sorted: 2.4 2.1 2.05 2.0 1.9 1.2; upper median 2.0; deviations 0 .05 .1 .1 .4 .8: 0.1.
    std::vector<double> weights(w.all.size());
    for (candidate_id id = 0; id < 7; ++id) {
      const auto& row = w.all.row(id);
      if (row.score > 0)
        weights[id] = 1 / (1 + std::exp(-2.0 * (row.score - 2.0) / 0.1)) / (1.0 + row.children);
    }
    kevo::rng random(32);
    kevo::weighted policy{.lambda = 2, .from = from, .inspirations = {0, 0}};
    CHECK(chi_square_excess(w.count(policy, draws, random), weights) < 1);
  }
  world alike;  // no spread at all: children alone decide
  for (int i = 0; i < 4; ++i) alike.add(1.5);
  alike.add(0, {0});
  kevo::rng random(33);
  kevo::weighted policy{.inspirations = {0, 0}};
  CHECK(chi_square_excess(alike.count(policy, draws, random), std::vector<double>{0.5, 1, 1, 1, 0}) < 1);
}

TEST_CASE("draws by weight are exact even where nearly all are refused") {
  kevo::rng random(34);
  const std::vector<double> weights = {1e-5, 3e-5, 0, 6e-5};
  std::vector<int> counts(4);
  for (int i = 0; i < draws; ++i)
    ++counts[kevo::detail::draw_weighted(4, 1, random, [&](auto k) { return weights[k]; })];
  CHECK(chi_square_excess(counts, weights) < 1);
  std::vector<int> nothing(3);
  for (int i = 0; i < 3000; ++i)
    ++nothing[kevo::detail::draw_weighted(3, 1, random, [](auto) { return 0.0; })];
  CHECK(chi_square_excess(nothing, std::vector<double>(3, 1.0)) < 1);
}

TEST_CASE("uniform is uniform, over elites or over all that are valid") {
  world w{kevo::top_k(2)};
  for (const double score : {1.0, 5.0, 0.0, 3.0}) w.add(score);
  kevo::rng random(35);
  kevo::uniform elites{.inspirations = {0, 0}},
      all{.from = parent_source::population, .inspirations = {0, 0}};
  CHECK(chi_square_excess(w.count(elites, draws, random), std::vector<double>{0, 1, 0, 1}) < 1);
  CHECK(chi_square_excess(w.count(all, draws, random), std::vector<double>{1, 1, 0, 1}) < 1);
}

TEST_CASE("curiosity rises with children that were kept and falls with those that were not") {
  world w{kevo::top_k(100)};
  kevo::curiosity policy;
  policy.inspirations = {0, 0};
  for (int i = 0; i < 3; ++i) grow(w, policy, 1);
  grow(w, policy, 2, {0});
  grow(w, policy, 2, {0});
  const auto failed = grow(w, policy, 0, {1});
  CHECK(policy.score_of(0) == 3.0);
  CHECK(policy.score_of(1) == 0.5);
  CHECK(policy.score_of(2) == 1.0);
  measure_again(w, policy, failed, 0);  // not another child
  CHECK(policy.score_of(1) == 0.5);
  grow(w, policy, 0, {1});
  CHECK(policy.score_of(1) == 0.01);
  kevo::rng random(36);
  CHECK(chi_square_excess(w.count(policy, draws, random), std::vector<double>{3, 0.01, 1, 1, 1, 0, 0}) < 1);
  w.kept.remove(0);
  w.kept.remove(3);
  CHECK(chi_square_excess(w.count(policy, draws, random), std::vector<double>{0, 0.01, 1, 0, 1, 0, 0}) < 1);
  world bare{kevo::any_archive{}};
  bare.add(1);
  CHECK(policy.select(bare.view(), random).parents == ids{0});
}

TEST_CASE("a lineage goes on from its head, never back, and shows its history") {
  world w;
  kevo::lineage policy;
  policy.history = 2;
  kevo::rng random(37);
  w.add(1);
  CHECK(policy.select(w.view(), random).parents == ids{0});  // even before it has observed anything
  kevo::observation first;
  first.candidate = 0;
  first.outcome = kevo::outcome::valid;
  first.score = 1;
  policy.observe(first);
  const auto a = grow(w, policy, 2, {0});
  grow(w, policy, 1.5, {a});  // worse: not in the line
  grow(w, policy, 0, {a});
  CHECK(policy.select(w.view(), random).parents == ids{a});
  const auto b = grow(w, policy, 2, {a});  // not worse: in
  const auto c = grow(w, policy, 3, {b});
  const auto chosen = policy.select(w.view(), random);
  CHECK(chosen.parents == ids{c});
  CHECK(chosen.inspirations == ids{b, a});
  measure_again(w, policy, c, 0);  // an audit found it out
  CHECK(policy.select(w.view(), random).parents == ids{a});
}

TEST_CASE("adaptive intensity explores less while the search gains") {
  kevo::adaptive_intensity policy;
  CHECK(policy.intensity() == doctest::Approx(0.5).epsilon(1e-3));
  world w;
  double score = 1;
  for (int i = 0; i < 30; ++i) grow(w, policy, score *= 3);
  // Relative gains of 2: G -> 4, sqrt 2.
  CHECK(policy.intensity() == doctest::Approx(0.15 + 0.35 / 3).epsilon(0.05));
  for (int i = 0; i < 200; ++i) grow(w, policy, 1);
  CHECK(policy.intensity() == doctest::Approx(0.5).epsilon(0.01));
  world two;
  two.add(1), two.add(2);
  kevo::adaptive_intensity fresh;
  fresh.inspirations = {0, 0};
  kevo::rng random(38);
  const double p = fresh.intensity(), worse = p / 2 + (1 - p) * 0.2;  // ranks 1 and 2 by power law 2: 4 to 1
  CHECK(chi_square_excess(two.count(fresh, draws, random), std::vector<double>{worse, 1 - worse}) < 1);
}

TEST_CASE("buckets are drawn by softmax, distinct ones, and members uniformly") {
  world w;
  kevo::bucket_softmax policy;
  policy.width = 1;
  policy.temperature = 0.7;
  policy.exemplars = 1;
  for (const double s : {1.1, 1.3, 2.0, 3.5, 0.0, 2.9, 1.2}) grow(w, policy, s);
  const double one = std::exp(1.2 / 0.7) / 3, two = std::exp(2.45 / 0.7) / 2, three = std::exp(3.5 / 0.7);
  kevo::rng random(39);
  CHECK(chi_square_excess(w.count(policy, draws, random),
                          std::vector<double>{one, one, two, three, 0, two, one}) < 1);
  policy.exemplars = 3;
  for (int i = 0; i < 200; ++i) {  // one of each bucket, the best is the parent
    const auto chosen = policy.select(w.view(), random);
    REQUIRE(chosen.parents == ids{3});
    REQUIRE(chosen.inspirations.size() == 2);
    CHECK(std::floor(w.all.row(chosen.inspirations[0]).score) !=
          std::floor(w.all.row(chosen.inspirations[1]).score));
  }
  measure_again(w, policy, 3, 1.5);  // moves to another bucket
  measure_again(w, policy, 0, 0);    // gone
  policy.exemplars = 1;
  const double low = std::exp((1.3 + 1.2 + 1.5) / 3 / 0.7) / 3, high = std::exp(2.45 / 0.7) / 2;
  CHECK(chi_square_excess(w.count(policy, draws, random),
                          std::vector<double>{0, low, high, low, 0, high, low}) < 1);
  world empty;
  empty.add(1);
  kevo::bucket_softmax unaware;
  CHECK(unaware.select(empty.view(), random).parents == ids{0});
}

TEST_CASE("a priority queue measures the best again, then varies them, round after round") {
  world w;
  kevo::priority_queue policy;
  policy.candidates = 2;
  policy.inspirations = {0, 0};
  kevo::rng random(40);
  for (const double s : {1.0, 3.0, 2.0, 3.0}) grow(w, policy, s);
  const auto next = [&] { return policy.select(w.view(), random); };
  auto chosen = next();
  CHECK(chosen.reevaluate);
  CHECK(chosen.parents == ids{3});  // the newest of equals
  chosen = next();
  CHECK_FALSE(chosen.reevaluate);
  CHECK(chosen.parents == ids{3});
  measure_again(w, policy, 3, 0.5);  // it was luck
  CHECK(next().parents == ids{1});   // still this round
  CHECK(next().parents == ids{1});
  CHECK(next().parents == ids{1});  // the next round: 1 and 2
  CHECK(next().parents == ids{1});
  measure_again(w, policy, 2, 0);  // fails before its turn
  CHECK(next().parents == ids{1});
}

TEST_CASE("confidence bounds reward or punish candidates that were measured once") {
  const auto leader = [](kevo::priority_order order) {
    world w;
    kevo::priority_queue policy;
    policy.candidates = 1;
    policy.measurements = 0;
    policy.order = order;
    policy.exploration = 0.2;
    kevo::rng random(41);
    grow(w, policy, 1.0);
    grow(w, policy, 4.0);
    grow(w, policy, 2.9);
    for (int i = 0; i < 20; ++i) measure_again(w, policy, 0, 3.0);  // often measured, mean 3
    for (int i = 0; i < 2; ++i) measure_again(w, policy, 1, 2.0);
    return policy.select(w.view(), random).parents.front();
  };
  CHECK(leader(kevo::priority_order::mean) == 0);
  CHECK(leader(kevo::priority_order::lcb) == 0);
  CHECK(leader(kevo::priority_order::ucb) == 2);  // 2.9 with one measurement
}

TEST_CASE("islands evolve apart, migrate the best without duplicates, and stay bounded") {
  world w;
  kevo::island_mix policy;
  policy.islands = 4;
  policy.capacity = 40;
  policy.interval = 10;
  policy.inspirations = {0, 0};
  kevo::rng random(44);
  search(w, policy, 3000, random);
  std::map<candidate_id, int> where;
  for (std::size_t i = 0; i < 4; ++i) {
    const auto& members = policy.members(i);
    CHECK(members.size() == 40);
    std::set<candidate_id> distinct;
    for (std::size_t r = 0; r < members.size(); ++r) {
      distinct.insert(members.nth(r));
      ++where[members.nth(r)];
      CHECK(members.rank(members.nth(r), w.all.row(members.nth(r)).score) == r);  // scores are current
    }
    CHECK(distinct.size() == members.size());
  }
  const auto travelled =
      std::count_if(where.begin(), where.end(), [](const auto& m) { return m.second > 1; });
  CHECK(travelled > 0);
  for (const auto& [id, islands] : where) CHECK(islands <= 3);  // home and both neighbours
}

TEST_CASE("an island draws by its mix") {
  world w;
  kevo::island_mix policy;
  policy.islands = 1;
  policy.elites = 2;
  policy.inspirations = {0, 0};
  const std::vector<double> scores = {4, 3, 2, 1};
  for (const double s : scores) grow(w, policy, s);
  std::vector<double> weights;
  for (std::size_t i = 0; i < 4; ++i)
    weights.push_back(0.2 / 4 + (i < 2 ? 0.7 / 2 : 0) + 0.1 * scores[i] / 10);
  kevo::rng random(45);
  CHECK(chi_square_excess(w.count(policy, draws, random), weights) < 1);
}

TEST_CASE("copies of selectors with a memory have the same future") {
  const auto check = [](kevo::any_selector policy) {
    world w;
    kevo::rng random(46);
    search(w, policy, 400, random);
    world v;  // the same history, told to nobody
    for (candidate_id id = 0; id < w.all.size(); ++id) v.add(w.all.row(id).score, w.parents_of[id]);
    kevo::any_selector copy = policy;
    kevo::rng other = random;
    search(w, policy, 900, random);
    for (candidate_id id = 400; id < w.all.size(); ++id) {
      kevo::selection chosen = copy.select(v.view(), other);
      if (chosen.reevaluate) break;  // its scores changed in place; enough was seen
      REQUIRE(chosen.parents == w.parents_of[id]);
      if (!other.chance(0.2)) other.normal();
      grow(v, copy, w.all.row(id).score, w.parents_of[id]);
    }
  };
  check(kevo::weighted{.inspirations = {0, 0}});
  check(kevo::uniform{.inspirations = {0, 0}});
  check(kevo::curiosity{});
  check(kevo::lineage{});
  check(kevo::adaptive_intensity{});
  check(kevo::bucket_softmax{});
  check(kevo::uct{});
  check(kevo::island_mix{});
  check(kevo::priority_queue{});
}
