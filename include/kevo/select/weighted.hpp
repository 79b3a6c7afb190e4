#pragma once
// A selector that prefers good candidates with few children: ShinkaEvolve's weighted sampling (arXiv
// 2509.19349).

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <kevo/detail/draw_weighted.hpp>
#include <kevo/select/inspirations.hpp>

namespace kevo {

/// ShinkaEvolve's default (arXiv 2509.19349): the weight of a candidate of score s with c children is
///
///     sigmoid(lambda * (s - median) / MAD) / (1 + c)
///
/// with median and median absolute deviation over the pool, lambda = 10. Few children make up for a middling
/// score, so it does not sit on the champion. A pick costs O(log^2 n) for the MAD and then as many tries as
/// weights are below 1; where most have many children (small archives of long runs; the source's holds 40) it
/// costs O(n).
struct weighted {
  double lambda = 10;
  bool discount =
      true;  ///< whether the weight falls with the number of children; false uses the sigmoid only
  parent_source from = parent_source::archive;
  kevo::inspirations inspirations;
  memory_scope scope = memory_scope::parent_trajectory;

  selection select(const population_view& view, rng& random) const {
    const parent_pool pool(view, from);
    const std::size_t n = pool.size();
    const auto score = [&](std::size_t rank) { return view.score(pool.nth_best(rank)); };
    const double median = score(n / 2);
    const double spread = std::max(deviation(n, median, score), 1e-9 * std::abs(median));
    const auto weight = [&](std::size_t rank) {
      const population_row& row = view.row(pool.nth_best(rank));
      const double fit = spread > 0 ? lambda * (row.score - median) / spread : 0;
      return 1 / (1 + std::exp(-fit)) / (discount ? 1.0 + row.children : 1.0);
    };
    return vary_one(pool.nth_best(detail::draw_weighted(n, 1.0, random, weight)), inspirations, scope, view,
                    random);
  }

  /// The upper median of |score - median|: the middle of two sorted runs, the ranks above the median going up
  /// and those below going down, by bisection. `score` falls with rank.
  template <class Score>
  static double deviation(std::size_t n, double median, Score score) {
    const std::size_t middle = n / 2, wanted = n / 2;  // this many deviations are not greater
    const auto above = [&](std::size_t i) { return score(middle - 1 - i) - median; };  // i < middle
    const auto below = [&](std::size_t i) { return median - score(middle + i); };      // i < n - middle
    // How many of the `wanted` smallest deviations come from above: the first split at which both sides fit.
    std::size_t low = wanted > n - middle ? wanted - (n - middle) : 0, high = std::min(wanted, middle);
    while (low < high) {
      const std::size_t up = low + (high - low) / 2, down = wanted - up;
      if (down > 0 && above(up) < below(down - 1)) {
        low = up + 1;
      } else {
        high = up;
      }
    }
    const std::size_t up = low, down = wanted - low;
    const double next_above = up < middle ? above(up) : INFINITY;
    const double next_below = down < n - middle ? below(down) : INFINITY;
    return std::min(next_above, next_below);
  }
};

}  // namespace kevo
