#pragma once
// An interval for the location of values that follow each other independently: narrower than one of batches,
// most of all where some values are far off.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include <kevo/evaluate/statistics.hpp>

namespace kevo {

/// The largest k for which the k smallest and the k largest means of two of `values` values may be left out
/// of an interval of error probability `alpha`: Wilcoxon's signed-rank distribution (Hollander and Wolfe
/// 1999). 0: too few values. O(n^3).
inline std::size_t left_out_means(std::size_t values, double alpha) {
  // How probable each sum of the ranks of the values above the center is.
  std::vector<double> sums(values * (values + 1) / 2 + 1, 0.0);
  sums[0] = 1;
  for (std::size_t rank = 1; rank <= values; ++rank) {
    for (std::size_t sum = sums.size(); sum-- > rank;) sums[sum] = 0.5 * (sums[sum] + sums[sum - rank]);
    for (std::size_t sum = 0; sum < rank; ++sum) sums[sum] *= 0.5;
  }
  double below = 0;
  std::size_t k = 0;
  while (k < sums.size() && (below += sums[k]) <= alpha / 2) ++k;
  return k;
}

/// The pseudo-median of values that are independent and lie alike on both sides of it, with its interval of
/// error probability `alpha`. Of fewer than 16 values the interval is Student's. O(n^3).
inline estimate signed_rank_location(std::span<const double> values, double alpha) {
  constexpr std::size_t enough = 16;
  if (values.size() < enough) return location(values, alpha, values.size());
  const std::size_t left_out = left_out_means(values.size(), alpha);
  if (left_out == 0) return location(values, alpha, values.size());
  std::vector<double> means;
  means.reserve(values.size() * (values.size() + 1) / 2);
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t k = i; k < values.size(); ++k) means.push_back(0.5 * (values[i] + values[k]));
  }
  std::sort(means.begin(), means.end());
  return {median(means), {means[left_out - 1], means[means.size() - left_out]}};
}

/// The same for positive values, computed in log space.
inline estimate positive_signed_rank(std::span<const double> values, double alpha) {
  std::vector<double> logs;
  for (const double x : values) logs.push_back(std::log(x));
  const auto e = signed_rank_location(logs, alpha);
  return {std::exp(e.value), {std::exp(e.range.low), std::exp(e.range.high)}};
}

}  // namespace kevo
