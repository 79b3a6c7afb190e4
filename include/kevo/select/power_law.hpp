#pragma once
// A selector that draws parents by rank with a power law: ShinkaEvolve (arXiv 2509.19349).

#include <kevo/detail/zipf.hpp>
#include <kevo/select/inspirations.hpp>

namespace kevo {

/// Rank r (1 the best) has probability proportional to r^-alpha (ShinkaEvolve's power law, arXiv 2509.19349,
/// with its default alpha = 1; FunSearch and AlphaEvolve weight their programs in the same spirit). alpha 0
/// is uniform, large ones are greedy; indifferent to the scale of scores. O(log n), exact for every n.
struct power_law {
  double alpha = 1.0;
  parent_source from = parent_source::archive;
  kevo::inspirations inspirations;
  memory_scope scope = memory_scope::parent_trajectory;

  selection select(const population_view& view, rng& random) const {
    const parent_pool pool(view, from);
    return vary_one(pool.nth_best(detail::zipf(pool.size(), alpha, random)), inspirations, scope, view,
                    random);
  }
};

}  // namespace kevo
