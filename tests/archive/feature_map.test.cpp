// links: core
// OpenEvolve's feature map against cases worked by hand, and its rule for parents.
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/archive/feature_map.hpp>
#include <kevo/archive/islands.hpp>
#include <kevo/select/explore_exploit.hpp>

#include "tests/select/world.hpp"
#include "tests/support/chi_square.hpp"

namespace {

using kevo::archive_status;
using kevo::feature_map;
using ids = std::vector<kevo::candidate_id>;

static_assert(kevo::archive<feature_map> && kevo::selector<kevo::explore_exploit>);

kevo::archive_entry entry(kevo::candidate_id id, double score, const std::string& text) {
  kevo::archive_entry made{.id = id, .score = score};
  made.source = std::make_shared<const kevo::program>(kevo::program{"text", {{"a.txt", text}}});
  return made;
}

std::vector<std::size_t> bins(const feature_map& map, kevo::candidate_id id) {
  for (std::size_t i = 0; i < map.size(); ++i) {
    if (map.at(i).id == id) return map.bins_of(map.at(i).cell);
  }
  return {};
}

}  // namespace

TEST_CASE("the distance of two texts weighs length, lines and characters") {
  const kevo::text_traits a("abc\n"), b("abcdefgh\nx\n");
  // 7 bytes and 1 line apart; d, e, f, g, h and x are in one only.
  CHECK(a.distance(b) == doctest::Approx(0.1 * 7 + 10 * 1 + 0.5 * 6));
  CHECK(a.distance(a) == 0);
  CHECK(kevo::text_traits("\xff").distance(kevo::text_traits("\x7f")) == doctest::Approx(1));
}

TEST_CASE("bins follow the values seen so far, and older candidates keep theirs") {
  feature_map map({"complexity", "score"}, 10);
  CHECK(map.add(entry(0, 1, "aaaa")).status == archive_status::new_cell);
  CHECK(bins(map, 0) == std::vector<std::size_t>{5, 5});  // a range of one value: the middle
  CHECK(map.add(entry(1, 3, "aaaaaaaa")).status == archive_status::new_cell);
  CHECK(bins(map, 1) == std::vector<std::size_t>{9, 9});
  CHECK(map.add(entry(2, 2, "aaaaa")).status == archive_status::new_cell);  // a quarter and a half
  CHECK(bins(map, 2) == std::vector<std::size_t>{2, 5});
  CHECK(bins(map, 0) == std::vector<std::size_t>{5, 5});
  // The same cell: the better one stays.
  CHECK(map.add(entry(3, 2.1, "bbbbb")).status == archive_status::improved);
  CHECK(map.add(entry(4, 2.1, "ccccc")).status == archive_status::rejected);
  CHECK(map.size() == 3);
  CHECK_FALSE(map.contains(2));
  // Measured again: the cell stays.
  CHECK(map.update(entry(3, 1.5, "bbbbb")).status == archive_status::rejected);
  CHECK(bins(map, 3) == std::vector<std::size_t>{2, 5});
  CHECK(map.describe(map.at(0)) == "complexity bin 6 of 10, score bin 6 of 10");
  CHECK(map.cells() == 100);
}

TEST_CASE("diversity is the mean distance to the first candidates") {
  feature_map map({"diversity"}, 4, 2);
  map.add(entry(0, 1, "a"));           // nothing to differ from: 0
  map.add(entry(1, 2, "bbb\nb\nbb"));  // one reference: 0.1 * 7 + 10 * 2 + 0.5 * 3 = 22.2
  CHECK(bins(map, 1) == std::vector<std::size_t>{3});
  // Two references: (10 + 0.1 + 0.5 + ...) lies between.
  map.add(entry(2, 3, "a\n"));  // to "a": 0.1 + 10 + 0.5; to the other: 0.6 + 10 + 1; the mean is 11.1
  CHECK(bins(map, 2) == std::vector<std::size_t>{2});  // 11.1 / 22.2 of 4 bins
  // The third is no reference: the same text as it still is 11.1 away.
  CHECK(map.add(entry(3, 4, "a\n")).status == archive_status::improved);
}

TEST_CASE("measures are features by name, and unknown values have a bin of their own") {
  feature_map map({"registers", "complexity"}, 10);
  CHECK(map.measures() == std::vector<std::string>{"registers"});
  const std::vector<double> low = {10}, high = {30}, unknown = {NAN};
  auto one = entry(0, 1, "a");
  one.measures = low;
  map.add(one);
  one = entry(1, 1, "ab");
  one.measures = high;
  map.add(one);
  one = entry(2, 1, "ab");
  one.measures = unknown;
  map.add(one);
  CHECK(bins(map, 1) == std::vector<std::size_t>{9, 9});
  CHECK(bins(map, 2) == std::vector<std::size_t>{10, 9});
  CHECK(map.neighbours(2, 5).empty());
  CHECK_THROWS_AS(feature_map({}), kevo::error);
  CHECK_THROWS_AS(feature_map({"score"}, 0), kevo::error);
}

TEST_CASE("neighbours are at most two bins away, nearest first") {
  feature_map map({"score"}, 10);
  // The second value sets the range to [0, 10].
  for (const double s : {0.0, 10.0, 2.0, 3.0, 4.5, 6.5}) {
    const auto id = static_cast<kevo::candidate_id>(map.size());
    map.add(entry(id, s, "a"));
  }
  // Bins: 5 (the only value then), 9, 2, 3, 4, 6.
  CHECK(map.neighbours(4, 9) == ids{0, 3, 2, 5});
  CHECK(map.neighbours(4, 1) == ids{0});
}

TEST_CASE("a forecast says what an offer does, also where the offer widens the ranges") {
  feature_map map({"complexity", "diversity", "score"}, 5);
  kevo::rng random(7);
  int kept = 0;
  for (kevo::candidate_id id = 0; id < 400; ++id) {
    const std::string text(1 + random.below(60), static_cast<char>('a' + random.below(26)));
    const auto offered = entry(id, random.uniform(-1, 1), text);
    const auto said = map.forecast(offered, kevo::no_candidate);
    const bool in = map.add(offered).status != archive_status::rejected;
    CHECK(said.kept == in);
    for (const auto gone : said.displaced) CHECK_FALSE(map.contains(gone));
    kept += in ? 1 : 0;
  }
  CHECK(kept > 50);
  CHECK(kept < 400);
}

TEST_CASE("on islands, each has a grid of its own, and migrants keep their sources") {
  kevo::islands world(feature_map({"complexity"}, 10), kevo::topology::ring(2), {.interval = 4, .share = 1});
  kevo::rng random(8);
  for (kevo::candidate_id id = 0; id < 200; ++id) {
    auto offered = entry(id, random.uniform(), std::string(1 + random.below(40), 'a'));
    const ids parents = {id > 1 ? static_cast<kevo::candidate_id>(random.below(id)) : 0};
    if (id > 1) offered.parents = parents;
    world.add(offered);
  }
  CHECK(world.migrations() > 0);
  CHECK(world.island(0).size() + world.island(1).size() == world.size());
  CHECK(world.size() > 10);  // ten bins on each
}

TEST_CASE("explore_exploit draws any elite, one of the best, or by score") {
  kevo::test::world w;
  const std::vector<double> scores = {4, 3, 2, 1};
  for (const double s : scores) w.add(s);
  kevo::explore_exploit policy;
  policy.elites = 2;
  std::vector<double> weights;
  for (std::size_t i = 0; i < 4; ++i)
    weights.push_back(0.2 / 4 + (i < 2 ? 0.7 / 2 : 0) + 0.1 * scores[i] / 10);
  kevo::rng random(45);
  CHECK(kevo::test::chi_square_excess(w.count(policy, 40000, random), weights) < 1);
}

TEST_CASE("explore_exploit counts its best elites among all candidates of the run, if it is told to") {
  kevo::test::world w;
  kevo::islands all{kevo::any_archive(kevo::top_k(10)), kevo::topology::ring(2), {.interval = 1000}};
  const auto add = [&](double score, std::size_t island) {
    const auto id = w.add(score);
    kevo::archive_entry entry{id, score, {}, {}};
    const std::vector<kevo::candidate_id> parents = {static_cast<kevo::candidate_id>(island)};
    if (id > 1) entry.parents = parents;  // the first two found the islands
    all.add(entry);
    REQUIRE(all.island_of(id) == island);
  };
  add(1, 0), add(2, 1);
  for (const double s : {9.0, 8.0, 7.0}) add(s, 0);
  for (const double s : {8.5, 3.0}) add(s, 1);
  kevo::explore_exploit policy;
  policy.exploration = 0;
  policy.exploitation = 1;
  policy.inspirations = {0, 0};
  policy.elites = 3;  // of the run: 9 (#2), 8.5 (#5), 8 (#3)
  policy.among = kevo::elites_among::population;
  kevo::rng random(46);
  const auto drawn = [&](std::size_t island) {
    std::set<kevo::candidate_id> ids;
    for (int i = 0; i < 200; ++i)
      ids.insert(policy.select(w.view().with(all.island(island)), random).parents.front());
    return ids;
  };
  CHECK(drawn(0) == std::set<kevo::candidate_id>{2, 3});
  CHECK(drawn(1) == std::set<kevo::candidate_id>{5});
  policy.elites = 1;  // none of them is on island 1, which goes on with all of its own
  CHECK(drawn(0) == std::set<kevo::candidate_id>{2});
  CHECK(drawn(1) == std::set<kevo::candidate_id>{1, 5, 6});
}
