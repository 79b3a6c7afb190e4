// links: core
// Islands: migration conserves and never duplicates, whatever the archive on them and the topology between
// them.
#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/archive/cvt.hpp>
#include <kevo/archive/epsilon_net.hpp>
#include <kevo/archive/grid.hpp>
#include <kevo/archive/islands.hpp>
#include <kevo/archive/novelty.hpp>
#include <kevo/archive/pareto.hpp>
#include <kevo/archive/top_k.hpp>
#include <kevo/select/on_islands.hpp>
#include <kevo/select/uniform.hpp>

#include "tests/select/played.hpp"
#include "tests/select/world.hpp"
#include "tests/support/chi_square.hpp"

namespace {

using kevo::archive_status;
using kevo::candidate_id;
using kevo::islands;
using kevo::topology;

static_assert(kevo::archive<islands> && kevo::selector<kevo::on_islands>);

/// Every elite, the island it is on by the islands' own containers; each must be on exactly one.
std::map<candidate_id, std::size_t> census(const islands& kept) {
  std::map<candidate_id, std::size_t> where;
  bool right = true;
  for (std::size_t i = 0; i < kept.count(); ++i) {
    for (std::size_t k = 0; k < kept.island(i).size(); ++k) {
      const candidate_id id = kept.island(i).at(k).id;
      right = right && where.emplace(id, i).second && kept.island_of(id) == i;
    }
  }
  right = right && where.size() == kept.size();
  for (std::size_t i = 0; i < kept.size(); ++i) right = right && where.at(kept.at(i).id) == kept.at(i).cell;
  REQUIRE(right);
  return where;
}

kevo::any_archive plain_grid() {
  return kevo::grid({{"a", 6, 0, 1}, {"b", 4, 0, 1}});
}

/// A search without a selector: children of random elites, near their parents in measures.
struct breeder {
  islands kept;
  kevo::rng random;
  candidate_id next = 0;
  std::map<candidate_id, std::vector<double>> measures;

  kevo::archive_result step() {
    std::vector<candidate_id> parents;
    std::vector<double> m = {random.uniform(), random.uniform()};
    if (const auto parent = kept.sample(random); parent && next > 2) {
      parents = {parent->id};
      for (std::size_t k = 0; k < 2; ++k) {
        m[k] = std::clamp(measures[parent->id][k] + 0.2 * random.normal(), 0.0, 1.0);
      }
    }
    measures[next] = m;
    const candidate_id id = next++;
    return kept.add({id, random.uniform(1, 3), m, parents});
  }
};

}  // namespace

TEST_CASE("topologies have the edges that their names say") {
  using list = std::vector<std::size_t>;
  CHECK(topology::ring(1).neighbours(0).empty());
  CHECK(topology::ring(2).neighbours(0) == list{1});
  const auto ring = topology::ring(5);
  for (std::size_t i = 0; i < 5; ++i) {
    auto neighbours = ring.neighbours(i);
    std::sort(neighbours.begin(), neighbours.end());
    list expected = {(i + 1) % 5, (i + 4) % 5};
    std::sort(expected.begin(), expected.end());
    CHECK(neighbours == expected);
  }
  CHECK(topology::full(4).neighbours(2) == list{0, 1, 3});
  const std::vector<std::pair<std::size_t, std::size_t>> one_way = {{0, 1}, {1, 2}, {0, 1}, {2, 2}};
  auto line = topology::from_edges(3, one_way);
  CHECK(line.neighbours(0) == list{1});
  CHECK(line.neighbours(2).empty());
  CHECK(line.grow(2) == 3);
  CHECK(line.neighbours(2) == list{3});
  CHECK(line.neighbours(3) == list{2});
  CHECK_THROWS_AS(topology::from_edges(2, one_way), kevo::error);
}

TEST_CASE("migration keeps exactly the elites that there were, each once") {
  const std::vector<std::pair<std::size_t, std::size_t>> one_way = {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {0, 2}};
  const std::vector<kevo::measure_range> plane = {{"a", 0, 1}, {"b", 0, 1}};
  const std::vector<std::pair<std::string, kevo::any_archive>> kinds = {
      {"grid", plain_grid()},
      {"soft grid", kevo::grid({{"a", 6, 0, 1}, {"b", 4, 0, 1}}, {.rate = 0.3})},
      {"cvt", kevo::cvt(plane, 20)},
      {"top_k", kevo::top_k(12)},
      {"epsilon_net", kevo::epsilon_net(plane, 0.15)},
      {"novelty", kevo::novelty(plane, 0.2, 3)},
      {"pareto", kevo::pareto({{"a", true}, {"b", true}})},
      {"full pareto", kevo::pareto({{"a", true}, {"b", true}}, 10)}};
  for (const auto& one : kinds) {
    const std::string& name = one.first;
    const kevo::any_archive& kind = one.second;
    for (const auto& graph : {topology::ring(4), topology::full(4), topology::from_edges(4, one_way)}) {
      CAPTURE(name);
      // The same offers with and without migration until the first one is due: what was there before it is
      // there after it.
      breeder world{islands(kind, graph, {.interval = 15, .share = 0.5}), kevo::rng(71)};
      std::size_t moved = 0;
      for (int i = 0; i < 400; ++i) {
        const auto before = census(world.kept);
        const std::size_t migrations = world.kept.migrations();
        const candidate_id id = world.next;
        const auto answer = world.step();
        const auto after = census(world.kept);
        if (world.kept.migrations() == migrations) continue;
        moved += world.kept.migrations() - migrations;
        REQUIRE(answer.status != archive_status::rejected);
        REQUIRE(after.contains(id));
        // An add brings one and may displace some of its own niche on its own island; migration itself none.
        std::size_t lost = 0, strangers = 0;
        for (const auto& [old, island] : before) lost += after.contains(old) ? 0 : 1;
        for (const auto& [now, island] : after) strangers += before.contains(now) || now == id ? 0 : 1;
        CHECK(strangers == 0);
        if (answer.status == archive_status::new_cell) CHECK(lost <= (name == "full pareto" ? 1 : 0));
      }
      CHECK(moved > 5);
      CHECK(world.kept.contains(world.kept.nth_best(0)));
    }
  }
}

TEST_CASE(
    "children live with their parents, a child fills an empty island, and without an edge there is no "
    "migration") {
  islands kept(plain_grid(), topology(3), {.interval = 2, .share = 1});
  const std::vector<double> m0 = {0.1, 0.1}, m1 = {0.5, 0.1}, m2 = {0.9, 0.1}, m3 = {0.9, 0.9};
  kept.add({0, 1, m0});
  const std::vector<candidate_id> of0 = {0}, of1 = {1};
  kept.add({1, 2, m0, of0});
  kept.add({2, 3, m0, of0});
  CHECK(kept.island_of(0) == 0);
  CHECK(kept.island_of(1) == 1);  // founded
  CHECK(kept.island_of(2) == 2);
  CHECK(kept.size() == 3);  // one niche, but three islands
  kept.add({3, 1, m1, of1});
  CHECK(kept.island_of(3) == 1);
  CHECK(kept.add({4, 1, m0, of1}).status == archive_status::rejected);  // of its own island's better one
  const std::vector<candidate_id> of4 = {4};
  kept.add({5, 1, m2, of4});
  CHECK(kept.island_of(5) == 1);  // a grandchild of what was rejected
  for (candidate_id id = 6; id < 30; ++id) kept.add({id, 1.0 + id, m3, of1});
  CHECK(kept.migrations() == 0);
  CHECK(kept.describe(kept.at(0)) == "island 0");
  CHECK(kept.update({3, 5, m1}) == kevo::archive_result{archive_status::improved, 4});
  CHECK(kept.remove(3));
  CHECK_FALSE(kept.contains(3));
  CHECK_FALSE(kept.remove(3));
  census(kept);
}

TEST_CASE("culling empties the worst islands and spares the best; spawning adds one when little is kept") {
  breeder world{islands(plain_grid(), topology::ring(4), {.cull_interval = 200}), kevo::rng(72)};
  int culled = 0;
  for (int i = 0; i < 2100; ++i) {
    const auto before = census(world.kept);
    const candidate_id champion = before.empty() ? kevo::no_candidate : world.kept.nth_best(0);
    const candidate_id id = world.next;
    world.step();
    const auto after = census(world.kept);
    if (champion != kevo::no_candidate && !after.contains(champion))
      CHECK(after.contains(id));  // beaten at home
    std::set<std::size_t> lost;
    for (const auto& [old, island] : before) {
      if (!after.contains(old)) lost.insert(island);
    }
    if (id > 0 && id % 200 != 199) CHECK(lost.size() <= 1);
    culled += lost.size() > 1 || after.size() + 3 < before.size() ? 1 : 0;
  }
  CHECK(culled >= 5);
  std::set<std::size_t> inhabited;
  for (std::size_t i = 0; i < world.kept.size(); ++i) inhabited.insert(world.kept.at(i).cell);
  CHECK(inhabited.size() == 4);  // culled ones were founded anew

  breeder stuck{islands(kevo::top_k(2), topology::ring(2), {.most = 4, .spawn_below = 0.2}), kevo::rng(73)};
  for (int i = 0; i < 3000; ++i) stuck.step();
  CHECK(stuck.kept.count() == 4);
  census(stuck.kept);
  breeder fixed{islands(kevo::top_k(2), topology::ring(2), {}), kevo::rng(73)};
  for (int i = 0; i < 500; ++i) fixed.step();
  CHECK(fixed.kept.count() == 2);
}

TEST_CASE("an archive that does not say whom it displaces is counted anew") {
  struct two_best {  // a user's: keeps the last two
    std::vector<kevo::elite> all;
    kevo::archive_result add(const kevo::archive_entry& e) {
      all.push_back({e.id, e.score, 0});
      if (all.size() > 2) all.erase(all.begin());
      return {archive_status::new_cell, e.score};
    }
    kevo::archive_result update(const kevo::archive_entry&) { return {}; }
    bool remove(candidate_id id) {
      return std::erase_if(all, [id](const auto& one) { return one.id == id; }) > 0;
    }
    std::optional<kevo::elite> sample(kevo::rng& random) const {
      if (all.empty()) return std::nullopt;
      return all[random.below(all.size())];
    }
    std::size_t size() const { return all.size(); }
    kevo::elite at(std::size_t i) const { return all[i]; }
  };
  breeder world{islands(kevo::any_archive(two_best{}), topology::full(3), {.interval = 3, .share = 1}),
                kevo::rng(74)};
  for (int i = 0; i < 200; ++i) {
    world.step();
    census(world.kept);
  }
  CHECK(world.kept.migrations() > 0);
}

TEST_CASE("on_islands goes from one island to the next and draws from that one alone") {
  kevo::test::world w{islands(kevo::top_k(50), topology(3))};
  for (int i = 0; i < 3; ++i) w.add(1.0 + i);  // seeds go round
  for (int i = 0; i < 30; ++i) {
    const candidate_id parent = static_cast<candidate_id>(i % 3);
    const candidate_id id = w.all.add(0, std::vector<candidate_id>{parent});
    w.parents_of.push_back({parent});
    w.children_of.emplace_back();
    w.all.evaluate(id, kevo::outcome::valid, 2);
    w.kept.add({id, 2.0, {}, w.parents_of[id]});
  }
  kevo::on_islands policy;
  policy.inner = kevo::uniform{.inspirations = {.top = 1, .diverse = 2}};
  kevo::rng random(75);
  std::vector<int> counts(33);
  const auto* world = w.kept.as<islands>();
  for (std::size_t i = 0; i < 33000; ++i) {
    const auto chosen = policy.select(w.view(), random);
    ++counts[chosen.parents.front()];
    REQUIRE(world->island_of(chosen.parents.front()) == i % 3);
    for (const candidate_id id : chosen.inspirations) REQUIRE(world->island_of(id) == i % 3);
  }
  CHECK(kevo::test::chi_square_excess(counts, std::vector<double>(33, 1.0)) < 1);
  kevo::test::world flat;  // any other archive: the selector alone
  flat.add(1);
  CHECK(policy.select(flat.view(), random).parents.front() == 0);
}

TEST_CASE("an island is spawned on few improvements per offer, after a cooldown, and not on rejections") {
  // Every offer is kept, and none improves: an archive with room for all would never spawn by its rejections.
  const auto offers_until_spawn = [](std::size_t cooldown, std::size_t interval) {
    islands kept(kevo::top_k(10000), topology::ring(1),
                 {.interval = interval, .share = 0, .most = 3, .spawn_below = 0.5, .cooldown = cooldown});
    std::vector<std::size_t> spawned;
    candidate_id next = 0;
    kept.add({next++, 10.0, {}, {}});
    for (std::size_t offers = 1; offers <= 200; ++offers) {
      const std::size_t before = kept.count();
      const std::vector<candidate_id> parents = {0};
      kept.add({next++, 1.0, {}, parents});
      if (kept.count() > before) spawned.push_back(offers + 1);
    }
    return spawned;
  };
  // After the first offer the average is 1, then it falls by the share 1/2 with each: below 0.5 after two
  // more.
  CHECK(offers_until_spawn(0, 2).front() == 3);
  const auto cooled = offers_until_spawn(30, 2);
  REQUIRE(cooled.size() == 2);
  CHECK(cooled[0] == 30);
  CHECK(cooled[1] == 60);
}

TEST_CASE("on_islands tells the selector of an island of that island alone") {
  struct listener {
    std::vector<candidate_id>* heard;
    kevo::selection select(const kevo::population_view& view, kevo::rng&) {
      return {.parents = {view.archive().nth_best(0)}};
    }
    std::vector<candidate_id> mine;
    void observe(const kevo::observation& seen) {
      mine.push_back(seen.candidate);
      *heard = mine;
    }
  };
  std::vector<candidate_id> heard;
  kevo::test::world w{islands(kevo::top_k(50), topology(2))};
  kevo::on_islands policy;
  policy.inner = listener{&heard};
  kevo::test::grow(w, policy, 1.0);
  kevo::test::grow(w, policy, 2.0);  // seeds go round
  CHECK(heard == std::vector<candidate_id>{1});
  kevo::test::grow(w, policy, 1.5, {0});
  CHECK(heard == std::vector<candidate_id>{0, 2});
  kevo::test::grow(w, policy, 0, {1});  // a failure belongs to its parent's island
  CHECK(heard == std::vector<candidate_id>{1, 3});
}

namespace {

/// Whether two islands get their first three turns each, not in turn.
bool three_turns_each(const std::function<std::size_t()>& next) {
  std::vector<std::size_t> taken(6);
  for (std::size_t& one : taken) one = next();
  return std::count(taken.begin(), taken.end(), 0U) == 3;
}

}  // namespace

TEST_CASE("on_islands gives turns by AdaEvolve's bound on rewards relative to the best of all") {
  kevo::test::world w{islands(kevo::top_k(50), topology(2))};
  kevo::on_islands policy;
  policy.inner = kevo::uniform{.inspirations = {0, 0}};
  policy.turns = kevo::island_turns::ucb;
  policy.exploration = 0.1;
  policy.decay = 0.5;
  kevo::rng random(76);
  const auto here = [&] {
    const auto chosen = policy.select(w.view(), random);
    return *w.kept.as<islands>()->island_of(chosen.parents.front());
  };
  kevo::test::grow(w, policy, 1.0);
  kevo::test::grow(w, policy, 10.0);
  CHECK(three_turns_each(here));
  // Island 0 doubles its best score, which is 1 of 10 of the best of all: R = 0.1, V = 0.5 + 1.
  kevo::test::grow(w, policy, 2.0, {0});
  // Island 1 gains half: 5 of 10. R = 1/2, V = 1.5.
  kevo::test::grow(w, policy, 15.0, {1});
  CHECK(here() == 1);
  // Now 0.1/1.5 + 0.1 sqrt(ln 8 / 3) = 0.150 against 0.5/1.5 + 0.1 sqrt(ln 8 / 4) = 0.405.
  CHECK(here() == 1);
  // Fruitless results decay the reward of island 1: R = 1/16, V = 1.9; its bound falls below that of island
  // 0.
  for (int i = 0; i < 3; ++i) kevo::test::grow(w, policy, 1.0, {1});
  CHECK(here() == 0);
}

TEST_CASE("gains in score do not outweigh the exploration of islands, because they are relative") {
  kevo::test::world w{islands(kevo::top_k(50), topology(2))};
  kevo::on_islands policy;
  policy.inner = kevo::uniform{.inspirations = {0, 0}};
  policy.turns = kevo::island_turns::ucb;
  policy.decay = 0.5;
  kevo::rng random(77);
  const auto here = [&] {
    const auto chosen = policy.select(w.view(), random);
    return *w.kept.as<islands>()->island_of(chosen.parents.front());
  };
  kevo::test::grow(w, policy, 1.0);
  kevo::test::grow(w, policy, 10.0);
  CHECK(three_turns_each(here));
  kevo::test::grow(w, policy, 2.0, {0});
  kevo::test::grow(w, policy, 15.0, {1});
  CHECK(here() == 1);  // 0.067 and 0.333, with equal turns
  CHECK(here() == 1);
  // 0.067 + 1.41 sqrt(ln 9 / 3) = 1.273 against 0.333 + 1.41 sqrt(ln 9 / 5) = 1.268. Absolute gains of 1 and
  // 5 would give 1.87 against 4.27.
  CHECK(here() == 0);
}

TEST_CASE("one great gain does not bind the turns of islands for long, because a reward is at most 1") {
  kevo::test::world w{islands(kevo::top_k(50), topology(2))};
  kevo::on_islands policy;
  policy.inner = kevo::uniform{.inspirations = {0, 0}};
  policy.turns = kevo::island_turns::ucb;
  policy.exploration = 0;
  policy.decay = 0.5;
  kevo::rng random(78);
  const auto here = [&] {
    const auto chosen = policy.select(w.view(), random);
    return *w.kept.as<islands>()->island_of(chosen.parents.front());
  };
  kevo::test::grow(w, policy, 1.0);
  kevo::test::grow(w, policy, 1.0);
  CHECK(three_turns_each(here));
  kevo::test::grow(w, policy, 100.0, {0});  // 99 times the best of all before
  CHECK(here() == 0);
  for (int i = 0; i < 3; ++i) kevo::test::grow(w, policy, 1.0, {0});
  kevo::test::grow(w, policy, 41.0, {1});
  CHECK(here() == 1);  // 1/8 / 1.9 against 0.4 / 1.5
}

TEST_CASE("an interval may count what an island rejects, so that full islands go on to exchange elites") {
  const auto migrations_after_rejections = [](bool count_rejected) {
    islands world(kevo::top_k(2), topology::ring(2),
                  {.interval = 10, .count_rejected = count_rejected, .share = 0.5});
    for (const double score : {4.0, 2.0, 3.0, 1.0}) {  // in turn: 4 and 3 on one island, 2 and 1 on the other
      const auto id = static_cast<candidate_id>(world.size());
      world.add({.id = id, .score = score});
    }
    const std::vector<candidate_id> parents = {0};
    for (candidate_id id = 4; id < 24; ++id)
      CHECK(world.add({.id = id, .score = 0.5, .parents = parents}).status == archive_status::rejected);
    return world.migrations();
  };
  CHECK(migrations_after_rejections(false) == 0);
  CHECK(migrations_after_rejections(true) > 0);
}
