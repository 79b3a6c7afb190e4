#pragma once
// A selector that draws parents with probability proportional to their score: the roulette wheel (Holland,
// 1975).

#include <kevo/select/inspirations.hpp>

namespace kevo {

/// Draws a parent with probability proportional to its score (Holland's roulette wheel, 1975; OpenEvolve
/// selects a tenth of its parents like this). Speedups are ratios, so a program that is twice as fast is
/// drawn twice as often. Among many programs of similar speed, better ones are preferred only slightly. If
/// any of the n scores is 0 or below, all scores are shifted so that the weight of the worst candidate is
/// (best score - worst score) / n. A pick costs O(log n).
struct fitness_proportional {
  parent_source from = parent_source::archive;           ///< the candidates that parents are drawn from
  kevo::inspirations inspirations;                       ///< which further candidates an operator is shown
  memory_scope scope = memory_scope::parent_trajectory;  ///< which earlier candidates an operator is shown

  selection select(const population_view& view, rng& random) const {
    const parent_pool pool(view, from);
    const candidate_id parent = pool.at_mass(random.uniform() * pool.total_score());
    return vary_one(parent, inspirations, scope, view, random);
  }
};

}  // namespace kevo
