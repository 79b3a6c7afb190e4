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
    const auto middle = [](const std::vector<double>& sorted) {
      return (sorted[(sorted.size() - 1) / 2] + sorted[sorted.size() / 2]) / 2;
    };
    const double median = middle(scores);
    std::vector<double> away;
    for (const double s : scores) away.push_back(std::abs(s - median));
    std::sort(away.begin(), away.end());
    CHECK(kevo::weighted::deviation(scores.size(), median, [&](std::size_t r) { return scores[r]; }) ==
          doctest::Approx(middle(away)).epsilon(1e-12));
  }
}

TEST_CASE("weighted follows ShinkaEvolve's formula") {
  for (const auto from : {parent_source::population, parent_source::archive}) {
    world w;
    for (const double score : {2.0, 2.1, 1.9, 2.4, 0.0, 1.2, 2.05}) w.add(score);
    for (int i = 0; i < 3; ++i) w.add(0, {3});  // the best has children already
    w.add(0, {1});
    // Scores sorted: 2.4 2.1 2.05 2.0 1.9 1.2; median 2.025; deviations
    // .025 .025 .075 .125 .375 .825: their median is .1.
    std::vector<double> weights(w.all.size());
    for (candidate_id id = 0; id < 7; ++id) {
      const auto& row = w.all.row(id);
      if (row.score > 0)
        weights[id] = 1 / (1 + std::exp(-2.0 * (row.score - 2.025) / 0.1)) / (1.0 + row.children);
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
  measure_again(w, policy, c, 0);  // an audit found it out: the best that remains, the older of equals
  CHECK(policy.select(w.view(), random).parents == ids{a});
  const auto d = grow(w, policy, 1.9, {a});
  CHECK(policy.select(w.view(), random).parents == ids{a});  // valid alone is not enough after an audit
  CHECK(d > a);
}

TEST_CASE("a lineage commits at the best confirmed score, and falls back to it") {
  world w;
  kevo::lineage policy;
  kevo::rng random(370);
  const auto head = [&] { return policy.select(w.view(), random).parents.front(); };
  const auto seed = grow(w, policy, 1.0);
  measure_again(w, policy, seed, 1.1, 1.1, true);
  const auto lucky = grow(w, policy, 3.0, {seed});
  const auto second = grow(w, policy, 2.5, {seed});
  CHECK(head() == lucky);
  measure_again(w, policy, lucky, 0.9, 0.9, true);  // below the best confirmed score, which is the seed's
  CHECK(head() == seed);
  grow(w, policy, 1.05, {seed});
  CHECK(head() == seed);
  const auto better = grow(w, policy, 1.2, {seed});
  CHECK(head() == better);
  measure_again(w, policy, second, 1.3, 1.3, true);  // the other one was confirmed
  CHECK(head() == second);
  measure_again(w, policy, second, 0);
  CHECK(head() == seed);  // of those confirmed, the best that remains
}

TEST_CASE("adaptive intensity explores less while the search gains") {
  kevo::adaptive_intensity policy;
  CHECK(policy.intensity() == doctest::Approx(0.5).epsilon(1e-3));
  const auto intensity = [](double energy) { return 0.15 + 0.35 / (1 + std::sqrt(energy + 1e-8)); };
  world w;
  const auto first = grow(w, policy, 1);  // a gain of 1 by definition
  CHECK(policy.intensity() == doctest::Approx(intensity(0.1)));
  for (int i = 0; i < 200; ++i) grow(w, policy, 0.5);  // what does not improve leaves it as it is
  CHECK(policy.intensity() == doctest::Approx(intensity(0.1)));
  const auto lucky = grow(w, policy, 1.5, {first});
  double energy = 0.9 * 0.1 + 0.1 * 0.25;
  CHECK(policy.intensity() == doctest::Approx(intensity(energy)));
  measure_again(w, policy, lucky, 0);  // the best score that stands is 1 again
  grow(w, policy, 1.2, {first});
  energy = 0.9 * energy + 0.1 * 0.04;
  CHECK(policy.intensity() == doctest::Approx(intensity(energy)));
  grow(w, policy, 120, {first});  // no gain counts as more than 1
  CHECK(policy.intensity() == doctest::Approx(intensity(0.9 * energy + 0.1)));
  world two;
  two.add(1), two.add(2);
  kevo::adaptive_intensity fresh;
  fresh.inspirations = {0, 0};
  kevo::rng random(38);
  const double p = fresh.intensity(), worse = p / 2 + (1 - p) * 0.2;  // ranks 1 and 2 by power law 2: 4 to 1
  CHECK(chi_square_excess(two.count(fresh, draws, random), std::vector<double>{worse, 1 - worse}) < 1);
  // AdaEvolve's rule: of the rest, 70 % are any of the best quarter, 30 % in proportion to the score.
  fresh.elite_share = 0.25;
  world eight;
  std::vector<double> weights;
  for (int score = 8; score > 0; --score) {
    eight.add(score);
    weights.push_back(p / 8 + (1 - p) * ((score > 6 ? 0.7 / 2 : 0) + 0.3 * score / 36));
  }
  CHECK(chi_square_excess(eight.count(fresh, draws, random), weights) < 1);
}

TEST_CASE("buckets are drawn by softmax, distinct ones, and members uniformly") {
  world w;
  kevo::bucket_softmax policy;
  policy.width = 0.5;  // buckets from 1, 1.5, 2.25 and 3.375
  policy.temperature = 0.7;
  policy.exemplars = 1;
  for (const double s : {1.1, 1.3, 2.4, 3.5, 0.0, 2.9, 1.2}) grow(w, policy, s);
  const double unit = 0.7 * 3.5;
  const double one = std::exp(1.2 / unit) / 3, two = std::exp(2.65 / unit) / 2, three = std::exp(3.5 / unit);
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
  const double now = 0.7 * 2.65;
  const double low = std::exp(1.25 / now) / 2, middle = std::exp(1.5 / now), high = std::exp(2.65 / now) / 2;
  CHECK(chi_square_excess(w.count(policy, draws, random),
                          std::vector<double>{0, low, high, middle, 0, high, low}) < 1);
  world empty;
  empty.add(1);
  kevo::bucket_softmax unaware;
  CHECK(unaware.select(empty.view(), random).parents == ids{0});
}

TEST_CASE("buckets and their odds are relative: scores a hundred times as great are drawn alike") {
  const auto counts = [](double factor) {
    world w;
    kevo::bucket_softmax policy;
    for (const double s : {1.05, 1.1, 1.6, 2.2}) grow(w, policy, factor * s);
    kevo::rng random(41);
    return w.count(policy, draws, random);
  };
  CHECK(counts(1) == counts(std::pow(1.25, 20)));
}

TEST_CASE("a priority queue works in rounds: measure the members, vary them, wait for their children") {
  world w;
  kevo::priority_queue policy;
  policy.candidates = 2;
  policy.inspirations = {0, 0};
  kevo::rng random(40);
  for (const double s : {1.0, 3.0, 2.0, 3.0}) grow(w, policy, s);
  const auto next = [&] { return policy.select(w.view(), random); };
  const kevo::pending_work nothing, measuring{.measurements = 1}, evaluating{.proposals = 1};
  REQUIRE(policy.ready(nothing));
  for (const candidate_id member : {3U, 1U}) {  // the newest of equals first
    const auto chosen = next();
    CHECK(chosen.reevaluate);
    CHECK(chosen.parents == ids{member});
  }
  CHECK_FALSE(policy.ready(measuring));    // the new results come first
  measure_again(w, policy, 3, 1.75, 0.5);  // it was luck, but the round stays as it is
  measure_again(w, policy, 1, 0, 0);       // a failure evicts nobody: its mean is 1.5
  REQUIRE(policy.ready(nothing));
  for (const candidate_id member : {3U, 1U}) {
    const auto chosen = next();
    CHECK_FALSE(chosen.reevaluate);
    CHECK(chosen.parents == ids{member});
    if (member == 3) CHECK(policy.ready(evaluating));  // children may be evaluated meanwhile
  }
  CHECK_FALSE(policy.ready(evaluating));
  CHECK_FALSE(policy.ready({.variations = 1}));
  CHECK(policy.ready(nothing));
  // The next round by means: 2 has 2, 3 has (3 + 0.5) / 2, 1 has (3 + 0) / 2.
  CHECK(next().parents == ids{2});
  CHECK(next().parents == ids{3});
}

TEST_CASE("the first round of a priority queue gives all places to the base program") {
  world w;
  kevo::priority_queue policy;
  policy.candidates = 3;
  policy.measurements = 0;
  policy.inspirations = {0, 0};
  kevo::rng random(400);
  grow(w, policy, 1.0);
  for (int i = 0; i < 3; ++i) CHECK(policy.select(w.view(), random).parents == ids{0});
  CHECK_FALSE(policy.ready({.proposals = 3}));
  grow(w, policy, 2.0, {0});
  grow(w, policy, 0.0, {0});  // never valid: last, varied and not measured
  policy.measurements = 1;
  CHECK(policy.select(w.view(), random).parents == ids{1});
  CHECK(policy.select(w.view(), random).parents == ids{0});
  for (const candidate_id member : {1U, 0U, 2U}) {
    const auto chosen = policy.select(w.view(), random);
    CHECK_FALSE(chosen.reevaluate);
    CHECK(chosen.parents == ids{member});
  }
}

TEST_CASE("confidence bounds count rounds, and the best mean is in every round") {
  // Three candidates of means 3.0 (four scores), 2.8 (one score) and 1.0 (one score).
  const auto play = [](kevo::priority_order order, bool best, int rounds) {
    world w;
    kevo::priority_queue policy;
    policy.candidates = 1;
    policy.measurements = 0;
    policy.order = order;
    policy.best = best;
    policy.exploration = 0.1;
    policy.inspirations = {0, 0};
    kevo::rng random(41);
    grow(w, policy, 3.0);
    for (int i = 0; i < rounds; ++i) policy.select(w.view(), random);
    for (int i = 0; i < 3; ++i) measure_again(w, policy, 0, 3.0);
    grow(w, policy, 1.0);
    grow(w, policy, 2.8);
    return policy.select(w.view(), random).parents.front();
  };
  using order = kevo::priority_order;
  CHECK(play(order::mean, false, 1) == 0);
  CHECK(play(order::lcb, false, 1) == 0);
  // max - min is 2. After t rounds, the bonus of four scores is 0.1 while the range is 0 when they are
  // measured, so 0 has the priority 3; that of 2 is min(3, 2.8 + 0.2 sqrt(ln(t + 2))).
  CHECK(2.8 + 0.2 * std::sqrt(std::log(0 + 2.0)) < 3);
  CHECK(2.8 + 0.2 * std::sqrt(std::log(3 + 2.0)) > 3);
  CHECK(play(order::ucb, false, 1) == 0);  // in the first round t is 0, however many scores there are
  CHECK(play(order::ucb, false, 4) == 2);  // in the fourth round t is 3; the newest wins the tie at 3
  CHECK(play(order::ucb, true, 4) == 0);   // the best mean takes the only place
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
  const auto on_several =
      std::count_if(where.begin(), where.end(), [](const auto& m) { return m.second > 1; });
  CHECK(on_several > 0);
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

TEST_CASE("an island shows its own members as inspirations") {
  world w;
  kevo::island_mix policy;
  policy.islands = 2;
  policy.inspirations = {.top = 2, .diverse = 2};
  for (int i = 0; i < 20; ++i) grow(w, policy, 1.0 + i);  // seeds go round: even ones live on island 0
  kevo::rng random(450);
  for (candidate_id turn = 0; turn < 100; ++turn) {
    const auto chosen = policy.select(w.view(), random);
    CHECK(chosen.parents.front() % 2 == turn % 2);
    CHECK(chosen.inspirations.size() >= 2);
    for (const candidate_id id : chosen.inspirations) CHECK(id % 2 == turn % 2);
  }
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
