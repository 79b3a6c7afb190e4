#pragma once
// A small world for selectors: a population with chosen scores, an archive, and a family tree.

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <kevo/archive/top_k.hpp>
#include <kevo/population.hpp>
#include <kevo/select.hpp>

namespace kevo::test {

struct world {
  population all;
  any_archive kept;
  std::vector<std::vector<candidate_id>> parents_of;
  std::vector<std::vector<candidate_id>> children_of;
  lineage_queries relatives;

  explicit world(any_archive archive = top_k(1000)) : kept(std::move(archive)) {
    relatives.parents = [this](candidate_id id) { return parents_of[id]; };
    relatives.children = [this](candidate_id id) { return children_of[id]; };
  }
  world(const world&) = delete;  // lineage_queries points here
  world& operator=(const world&) = delete;

  /// A valid candidate if `score` > 0, else one that failed.
  candidate_id add(double score, std::vector<candidate_id> parents = {}, std::vector<double> measures = {}) {
    const candidate_id id = all.add(parents.empty() ? seed_operator : operator_index{0}, parents);
    for (const candidate_id p : parents) children_of[p].push_back(id);
    parents_of.push_back(std::move(parents));
    children_of.emplace_back();
    if (score > 0) {
      all.evaluate(id, outcome::valid, score);
      if (kept) kept.add({id, score, measures, parents_of[id]});
    } else {
      all.evaluate(id, outcome::incorrect, 0);
    }
    return id;
  }

  population_view view() const { return {all, kept, relatives}; }

  /// How often each candidate is the first parent in `n` selections.
  template <class Selector>
  std::vector<int> count(Selector& policy, int n, rng& random) const {
    std::vector<int> counts(all.size());
    for (int i = 0; i < n; ++i) ++counts[policy.select(view(), random).parents.at(0)];
    return counts;
  }
};

}  // namespace kevo::test
