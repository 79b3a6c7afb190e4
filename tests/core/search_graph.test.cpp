// links: core
#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <vector>

#include <boost/graph/graphviz.hpp>
#include <boost/graph/topological_sort.hpp>
#include <doctest/doctest.h>

#include <kevo/boost_graph.hpp>
#include <kevo/random.hpp>
#include <kevo/search_graph.hpp>

namespace {

using kevo::candidate_id;
using ids = std::vector<candidate_id>;

kevo::content_id numbered(std::uint64_t n) {
  return {n * 0x9e3779b97f4a7c15ULL, n};
}

kevo::search_graph family() {  // 0 and 1 seeds; 2(0) 3(0,1) 4(2,3) 5(0) 6(4)
  kevo::search_graph g;
  g.add(numbered(0), kevo::seed_operator);
  g.add(numbered(1), kevo::seed_operator);
  g.add(numbered(2), 0, ids{0});
  g.add(numbered(3), 1, ids{0, 1});
  g.add(numbered(4), 1, ids{3, 2});
  g.add(numbered(5), 0, ids{0});
  g.add(numbered(6), 2, ids{4, 4});
  return g;
}

}  // namespace

TEST_CASE("the search graph knows every relation of a small family") {
  const auto g = family();
  CHECK(g.size() == 7);
  CHECK(g.parents(0).empty());
  CHECK(g.parents(4) == ids{3, 2});  // in the operator's order, not by age
  CHECK(g.parents(6) == ids{4});     // a parent given twice is one parent
  CHECK(g.children(0) == ids{2, 3, 5});
  CHECK(g.children_count(0) == 3);
  CHECK(g.siblings(3, 10) == ids{5, 2});
  CHECK(g.siblings(2, 1) == ids{5});
  CHECK(g.siblings(5, 1) == ids{3});
  CHECK(g.siblings(0, 10).empty());
  CHECK(g.lineage(6, 10) == ids{6, 4, 3, 0});
  CHECK(g.lineage(6, 2) == ids{6, 4});
  CHECK(g.lineage(6, 0).empty());
  CHECK(g.ancestors(6) == ids{4, 3, 2, 1, 0});
  CHECK(g.ancestors(1).empty());
  CHECK(g.depth(0) == 0);
  CHECK(g.depth(4) == 2);
  CHECK(g.depth(6) == 3);
  CHECK(g.frontier() == ids{5, 6});
  CHECK(g.made_by(4) == 1);
  CHECK(g.made_by(1) == kevo::seed_operator);
  CHECK(g.program_of(4) == numbered(4));
  CHECK(g.find(numbered(5)) == candidate_id{5});
  CHECK_FALSE(g.find(numbered(77)));
}

TEST_CASE("the search graph refuses known programs and unborn parents, and stays as it was") {
  auto g = family();
  CHECK_THROWS_AS(g.add(numbered(3), 0, ids{0}), kevo::error);
  CHECK_THROWS_AS(g.add(numbered(9), 0, ids{7}), kevo::error);
  CHECK_THROWS_AS(g.add(numbered(9), 0, ids{kevo::no_candidate}), kevo::error);
  CHECK(g.size() == 7);
  CHECK_FALSE(g.find(numbered(9)));
  CHECK(g.add(numbered(9), 0, ids{6}) == 7);
}

TEST_CASE("random lineages agree with adjacency sets") {
  kevo::rng random(5);
  kevo::search_graph g;
  std::vector<ids> parents;
  for (candidate_id id = 0; id < 1500; ++id) {
    ids mine;
    for (std::uint64_t n = random.below(4); n > 0 && id > 0; --n) {
      const auto parent = static_cast<candidate_id>(random.below(id));
      if (std::find(mine.begin(), mine.end(), parent) == mine.end()) mine.push_back(parent);
    }
    CHECK(g.add(numbered(id), 0, mine) == id);
    parents.push_back(mine);
  }
  std::vector<ids> children(parents.size());
  std::vector<std::set<candidate_id>> above(parents.size());
  for (candidate_id id = 0; id < parents.size(); ++id) {
    for (const auto p : parents[id]) {
      children[p].push_back(id);
      above[id].insert(p);
      above[id].insert(above[p].begin(), above[p].end());
    }
  }
  for (candidate_id id = 0; id < parents.size(); id += 7) {
    CHECK(g.parents(id) == parents[id]);
    CHECK(g.children(id) == children[id]);
    CHECK(g.ancestors(id) == ids(above[id].rbegin(), above[id].rend()));
    std::set<candidate_id> kin;
    for (const auto p : parents[id]) kin.insert(children[p].begin(), children[p].end());
    kin.erase(id);
    ids newest(kin.rbegin(), kin.rend());
    CHECK(g.siblings(id, 1000) == newest);
    if (newest.size() > 5) newest.resize(5);
    CHECK(g.siblings(id, 5) == newest);
    ids youngest(children[id].rbegin(), children[id].rend());
    CHECK(g.newest_children(id, 1000) == youngest);
    if (youngest.size() > 3) youngest.resize(3);
    CHECK(g.newest_children(id, 3) == youngest);
  }
  const auto leaves = g.frontier();
  CHECK(std::all_of(leaves.begin(), leaves.end(), [&](auto id) { return children[id].empty(); }));
}

TEST_CASE("Boost.Graph's own algorithms run on the search graph") {
  const auto g = family();
  ids order;
  boost::topological_sort(g, std::back_inserter(order));  // children first
  CHECK(order.size() == g.size());
  std::ostringstream dot;
  boost::write_graphviz(dot, g);
  CHECK(dot.str().find("3->4") != std::string::npos);
  const auto copy = g;  // a value: the copy's edges are its own
  CHECK(copy.children(0) == ids{2, 3, 5});
}
