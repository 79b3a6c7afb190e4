#pragma once
// A selector that draws all elites with the same probability: MAP-Elites as published (Mouret & Clune, 2015).
// With parents from the population it is random search.

#include <kevo/select/inspirations.hpp>

namespace kevo {

/// Draws all elites with the same probability: MAP-Elites as published (Mouret & Clune, arXiv 1504.04909). If
/// `from` is `population`, it draws from all valid candidates, as random search does. A pick costs O(1) from
/// archives and O(log n) from the population.
struct uniform {
  parent_source from = parent_source::archive;           ///< the candidates that parents are drawn from
  kevo::inspirations inspirations;                       ///< which further candidates an operator is shown
  memory_scope scope = memory_scope::parent_trajectory;  ///< which earlier candidates an operator is shown

  selection select(const population_view& view, rng& random) const {
    return vary_one(parent_pool(view, from).uniform(random), inspirations, scope, view, random);
  }
};

}  // namespace kevo
