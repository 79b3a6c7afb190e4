#pragma once
// A selector that draws parents with a probability proportional to their score: the roulette wheel (Holland,
// 1975).

#include <kevo/select/inspirations.hpp>

namespace kevo {

/// Probability proportional to the score (Holland's roulette wheel, 1975; a tenth of OpenEvolve's picks).
/// Speedups are ratios, so a program twice as fast is drawn twice as often; it sharpens little among many
/// programs of similar speed. If there are scores of 0 or below, all are shifted so that the worst candidate
/// weighs the n-th part of the range. O(log n).
struct fitness_proportional {
  parent_source from = parent_source::archive;
  kevo::inspirations inspirations;
  memory_scope scope = memory_scope::parent_trajectory;

  selection select(const population_view& view, rng& random) const {
    const parent_pool pool(view, from);
    const candidate_id parent = pool.at_mass(random.uniform() * pool.total_score());
    return vary_one(parent, inspirations, scope, view, random);
  }
};

}  // namespace kevo
