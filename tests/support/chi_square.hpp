#pragma once
// Does a sample follow the distribution it should?

#include <cmath>
#include <cstddef>
#include <span>

namespace kevo::test {

/// Pearson's statistic over its critical value at p = 1e-4 (Wilson-Hilferty approximation): above 1 the
/// counts do not follow `weights`. Every expected count should be at least 5; a count where no weight is
/// gives infinity.
template <class Count>
double chi_square_excess(std::span<const Count> counts, std::span<const double> weights) {
  double n = 0, total = 0;
  for (const auto c : counts) n += static_cast<double>(c);
  for (const double w : weights) total += w;
  double statistic = 0, freedom = -1;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double expected = n * weights[i] / total;
    const double miss = static_cast<double>(counts[i]) - expected;
    if (expected > 0) {
      statistic += miss * miss / expected;
      ++freedom;
    } else if (miss != 0) {
      return INFINITY;
    }
  }
  const double v = 2 / (9 * freedom);
  return statistic / (freedom * std::pow(1 - v + 3.719 * std::sqrt(v), 3));
}

template <class Counts, class Weights>
double chi_square_excess(const Counts& counts, const Weights& weights) {
  return chi_square_excess(std::span(counts), std::span<const double>(weights));
}

}  // namespace kevo::test
