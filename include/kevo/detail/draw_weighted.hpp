#pragma once
// A random draw with weights that are computed on demand.

#include <cstddef>
#include <vector>

#include <kevo/random.hpp>

namespace kevo::detail {

/// An index in [0, n), n >= 1, with probability proportional to `weight(index)`, which must lie in [0,
/// bound]. The distribution is exact: up to 64 tries of rejection, whose cost does not depend on n; if all
/// fail, because most weights are far below the bound, one pass over all n. Uniform if all weights are 0.
template <class Weight>
std::size_t draw_weighted(std::size_t n, double bound, rng& random, Weight weight) {
  for (int tries = 0; tries < 64; ++tries) {
    const std::size_t i = random.below(n);
    if (random.uniform() * bound < weight(i)) return i;
  }
  std::vector<double> weights(n);
  for (std::size_t i = 0; i < n; ++i) weights[i] = weight(i);
  const std::size_t chosen = random.weighted(weights);
  return chosen < n ? chosen : random.below(n);
}

}  // namespace kevo::detail
