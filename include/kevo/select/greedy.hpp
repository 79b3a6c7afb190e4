#pragma once
// A selector that always takes the best candidate: KernelEvolve's greedy policy, AIRA's greedy search.

#include <kevo/select/inspirations.hpp>

namespace kevo {

/// The best candidate is the parent (KernelEvolve's greedy policy, AIRA's greedy search): the yardstick that
/// every other selector must beat. O(log n).
struct greedy {
  kevo::inspirations inspirations;
  memory_scope scope = memory_scope::parent_trajectory;

  selection select(const population_view& view, rng& random) const {
    return vary_one(view.nth_best(0), inspirations, scope, view, random);
  }
};

}  // namespace kevo
