#pragma once
// A selector that takes the best of a few candidates drawn uniformly: tournament selection (Goldberg & Deb,
// 1991).

#include <algorithm>

#include <kevo/select/inspirations.hpp>

namespace kevo {

/// Tournament selection (Goldberg & Deb, "A comparative analysis of selection schemes used in genetic
/// algorithms", 1991; used by pagmo's sga and by CodeEvolve). `size` candidates are drawn uniformly with
/// replacement, and the best of them is the parent. Rank r of n (0 is the best) has probability ((n-r)^size -
/// (n-r-1)^size) / n^size; size 1 is uniform. A pick costs O(size + log n).
struct tournament {
  std::size_t size = 3;                         ///< number of candidates that are drawn; 0 counts as 1
  parent_source from = parent_source::archive;  ///< the candidates that parents are drawn from
  kevo::inspirations inspirations;              ///< which further candidates an operator is shown
  memory_scope scope = memory_scope::parent_trajectory;  ///< which earlier candidates an operator is shown

  selection select(const population_view& view, rng& random) const {
    const parent_pool pool(view, from);
    std::size_t rank = random.below(pool.size());  // drawing ranks is enough; no scores are read
    for (std::size_t i = 1; i < size; ++i) rank = std::min<std::size_t>(rank, random.below(pool.size()));
    return vary_one(pool.nth_best(rank), inspirations, scope, view, random);
  }
};

}  // namespace kevo
