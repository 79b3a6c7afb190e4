#pragma once
// A selector that draws parents by rank with a power law: ShinkaEvolve (arXiv 2509.19349).

#include <kevo/detail/zipf.hpp>
#include <kevo/select/inspirations.hpp>

namespace kevo {

/// Draws parents by rank: rank r (1 is the best) has probability proportional to r^-alpha (ShinkaEvolve's
/// power law, arXiv 2509.19349, with its default alpha = 1; FunSearch and AlphaEvolve weight their programs
/// by similar rules). alpha = 0 is uniform, and large values are greedy. Only the order of the scores
/// matters, not their scale. The distribution is exact for every n. A pick costs O(log n).
struct power_law {
  double alpha = 1.0;                                    ///< exponent of the power law, at least 0
  parent_source from = parent_source::archive;           ///< the candidates that parents are drawn from
  kevo::inspirations inspirations;                       ///< which further candidates an operator is shown
  memory_scope scope = memory_scope::parent_trajectory;  ///< which earlier candidates an operator is shown

  selection select(const population_view& view, rng& random) const {
    const parent_pool pool(view, from);
    return vary_one(pool.nth_best(detail::zipf(pool.size(), alpha, random)), inspirations, scope, view,
                    random);
  }
};

}  // namespace kevo
