#pragma once
// A selector that always takes the best candidate: KernelEvolve's greedy policy, AIRA's greedy search.

#include <kevo/select/inspirations.hpp>

namespace kevo {

/// Always selects the best candidate as the parent (KernelEvolve's greedy policy, AIRA's greedy search). It
/// is the reference that every other selector should beat. A pick costs O(log n).
struct greedy {
  kevo::inspirations inspirations;                       ///< which further candidates an operator is shown
  memory_scope scope = memory_scope::parent_trajectory;  ///< which earlier candidates an operator is shown

  selection select(const population_view& view, rng& random) const {
    return vary_one(view.nth_best(0), inspirations, scope, view, random);
  }
};

}  // namespace kevo
