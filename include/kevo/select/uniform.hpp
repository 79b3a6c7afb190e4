#pragma once
// A selector that draws all elites with the same probability: MAP-Elites as published (Mouret & Clune, 2015).
// From the population it is random search.

#include <kevo/select/inspirations.hpp>

namespace kevo {

/// All elites with the same probability: MAP-Elites as published (Mouret & Clune, arXiv 1504.04909). From the
/// population: random search's choice of parents. O(1) from archives, O(log n) from the population.
struct uniform {
  parent_source from = parent_source::archive;
  kevo::inspirations inspirations;
  memory_scope scope = memory_scope::parent_trajectory;

  selection select(const population_view& view, rng& random) const {
    return vary_one(parent_pool(view, from).uniform(random), inspirations, scope, view, random);
  }
};

}  // namespace kevo
