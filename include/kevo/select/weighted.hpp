#pragma once
// A selector that prefers good candidates with few children: ShinkaEvolve's weighted sampling (arXiv
// 2509.19349).

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <kevo/detail/draw_weighted.hpp>
#include <kevo/select/inspirations.hpp>

namespace kevo {

/// ShinkaEvolve's default (arXiv 2509.19349): the weight of a candidate with score s and c children is
///
///     sigmoid(lambda * (s - median) / MAD) / (1 + c)
///
/// where median and MAD (median absolute deviation) are those of the scores in the pool (for an even number
/// of values, the mean of the middle two), and lambda = 10. A candidate of average score with few children
/// can have a greater weight than the best candidate with many, so that not all children descend from the
/// best one. A pick costs O(log^2 n) for the MAD. The candidate is then drawn by rejection, in a number of
/// tries that does not depend on n. If most weights are far below 1, because most candidates have many
/// children, rejection fails and the pick costs O(n). This happens in small archives of long runs
/// (ShinkaEvolve's archive holds 40).
struct weighted {
  double lambda = 10;  ///< steepness of the sigmoid; larger values are greedier
  /// Whether the weight falls with the number of children; false uses the sigmoid only.
  bool discount = true;
  parent_source from = parent_source::archive;           ///< the candidates that parents are drawn from
  kevo::inspirations inspirations;                       ///< which further candidates an operator is shown
  memory_scope scope = memory_scope::parent_trajectory;  ///< which earlier candidates an operator is shown

  selection select(const population_view& view, rng& random) const {
    const parent_pool pool(view, from);
    const std::size_t n = pool.size();
    const auto score = [&](std::size_t rank) { return view.score(pool.nth_best(rank)); };
    const double median = (score((n - 1) / 2) + score(n / 2)) / 2;
    const double spread = std::max(deviation(n, median, score), 1e-9 * std::abs(median));
    const auto weight = [&](std::size_t rank) {
      const population_row& row = view.row(pool.nth_best(rank));
      const double fit = spread > 0 ? lambda * (row.score - median) / spread : 0;
      return 1 / (1 + std::exp(-fit)) / (discount ? 1.0 + row.children : 1.0);
    };
    return vary_one(pool.nth_best(detail::draw_weighted(n, 1.0, random, weight)), inspirations, scope, view,
                    random);
  }

  /// The median of |score - median|; for an even number of values, the mean of the middle two. `score(rank)`
  /// must not rise with the rank.
  template <class Score>
  static double deviation(std::size_t n, double median, Score score) {
    const double upper = nth_deviation(n, n / 2, median, score);
    return n % 2 == 1 ? upper : (nth_deviation(n, n / 2 - 1, median, score) + upper) / 2;
  }

 private:
  /// The deviation at index `wanted` in rising order. Bisection finds it in two sorted sequences: the
  /// deviations of the ranks better than the median, and those of the others.
  template <class Score>
  static double nth_deviation(std::size_t n, std::size_t wanted, double median, Score score) {
    const std::size_t middle = n / 2;
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
