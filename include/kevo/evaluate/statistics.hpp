#pragma once
// Statistics of paired timings: robust confidence intervals for a ratio, alpha spending for a small number of
// planned looks, and the combination of workloads in log space. All are pure functions of the readings, so
// that every decision can be recomputed.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <kevo/evaluation.hpp>

namespace kevo {

/// The key in `evaluation::context` for the error probability of its intervals (the `alpha` of the look that
/// they come from). Without this key they are 95 % intervals.
inline constexpr const char* interval_alpha_key = "interval_alpha";

/// A value with its confidence interval.
struct estimate {
  double value = 0;
  interval range;  ///< confidence interval of `value`
};

/// An estimate with its weight in a mean.
struct weighted_estimate {
  estimate ratio;     ///< a speedup or another positive ratio
  double weight = 1;  ///< at least 0
};

/// The p-quantile with linear interpolation (type 7 of Hyndman and Fan 1996); NaN if there are no values.
/// O(n log n).
inline double quantile(std::vector<double> values, double p) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::sort(values.begin(), values.end());
  const double place = std::clamp(p, 0.0, 1.0) * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const auto above = std::min(below + 1, values.size() - 1);
  return values[below] + (place - static_cast<double>(below)) * (values[above] - values[below]);
}

/// The median; NaN if there are no values. O(n log n).
inline double median(std::vector<double> values) {
  return quantile(std::move(values), 0.5);
}

/// The Hodges-Lehmann estimator (Hodges and Lehmann 1963): the median of the means of all pairs of values,
/// including the pairs of a value with itself; NaN if there are no values. Up to a quarter of the values may
/// be outliers. The times of many kernels cluster around two values; this estimate then lies stably between
/// them, whereas the median jumps from one to the other. O(n^2) time and memory.
inline double pseudo_median(std::span<const double> values) {
  std::vector<double> means;
  means.reserve(values.size() * (values.size() + 1) / 2);
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t k = i; k < values.size(); ++k) means.push_back(0.5 * (values[i] + values[k]));
  }
  if (means.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto middle = means.begin() + static_cast<std::ptrdiff_t>(means.size() / 2);
  std::nth_element(means.begin(), middle, means.end());
  if (means.size() % 2 == 1) return *middle;
  return 0.5 * (*middle + *std::max_element(means.begin(), middle));
}

/// The autocorrelation at lag 1 of values in time order; 0 for fewer than 3 values or constant values.
inline double lag_one_correlation(std::span<const double> values) {
  if (values.size() < 3) return 0;
  double mean = 0;
  for (const double x : values) mean += x / static_cast<double>(values.size());
  double variance = 0;
  double covariance = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    variance += (values[i] - mean) * (values[i] - mean);
    if (i > 0) covariance += (values[i] - mean) * (values[i - 1] - mean);
  }
  return variance > 0 ? covariance / variance : 0;
}

namespace detail {

// The continued fraction of the incomplete beta function (Lentz's method; DLMF 8.17.22).
inline double beta_fraction(double a, double b, double x) {
  constexpr double tiny = 1e-300;
  double c = 1;
  double d = 1 - (a + b) * x / (a + 1);
  d = 1 / (std::abs(d) < tiny ? tiny : d);
  double result = d;
  for (int m = 1; m < 400; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    for (const double term : {even, odd}) {
      d = 1 + term * d;
      d = 1 / (std::abs(d) < tiny ? tiny : d);
      c = 1 + term / c;
      if (std::abs(c) < tiny) c = tiny;
      result *= d * c;
    }
    if (std::abs(d * c - 1) < 1e-14) break;
  }
  return result;
}

}  // namespace detail

/// The regularized incomplete beta function I_x(a, b) for a, b > 0 (DLMF 8.17).
inline double incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front =
      std::exp(a * std::log(x) + b * std::log1p(-x) + std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b));
  if (x < (a + 1) / (a + b + 2)) return front * detail::beta_fraction(a, b, x) / a;
  return 1 - front * detail::beta_fraction(b, a, 1 - x) / b;
}

/// The two-sided quantile of Student's t distribution: the t with P(|T| > t) = alpha, for `freedom` >= 1
/// degrees of freedom.
inline double student_t(double alpha, double freedom) {
  const auto exceeds = [freedom](double t) {
    return incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t));
  };
  double low = 0;
  double high = 1;
  while (exceeds(high) > alpha && high < 1e12) high *= 2;
  for (int i = 0; i < 200 && high - low > 1e-12 * high; ++i) {
    const double middle = 0.5 * (low + high);
    (exceeds(middle) > alpha ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

/// The part of the error probability `alpha` that is spent at look number `look` (from 1) of `looks` planned
/// looks. It is the increment of the Pocock-type spending function alpha * ln(1 + (e - 1) t) of Lan and
/// DeMets (1983), with t = look / looks. The parts sum to alpha. By Bonferroni's inequality, intervals with
/// these error probabilities hold simultaneously with probability at least 1 - alpha, for any dependence
/// between looks.
inline double alpha_of_look(double alpha, int look, int looks) {
  const auto spent = [&](int k) {
    return alpha * std::log(1 + (std::numbers::e - 1) * static_cast<double>(k) / static_cast<double>(looks));
  };
  return spent(look) - spent(look - 1);
}

/// The number of contiguous batches into which `location` divides this many values. Fewer than 10 values: one
/// batch for each value. Otherwise 5 to 12 batches of at least two values, or up to 24 if each has at least
/// four.
inline std::size_t location_batches(std::size_t values) {
  if (values < 10) return values;
  return std::max(std::clamp<std::size_t>(values / 2, 5, 12), std::min<std::size_t>(values / 4, 24));
}

/// A robust estimate of the location of values in time order, with an interval of error probability `alpha`.
/// The value is the pseudo-median of all values. For the interval, the values are divided into contiguous
/// batches, so that correlation between neighbours and single outliers have less effect; the interval is
/// Student's t interval of the pseudo-medians of the batches, extended if necessary to contain the value.
/// Fewer than 3 values give an infinite interval. O(n^2).
/// @param batches number of batches, from 2 to the number of values; 0 uses `location_batches(values.size())`
inline estimate location(std::span<const double> values, double alpha, std::size_t batches = 0) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double center = pseudo_median(values);
  if (values.size() < 3) return {center, {-infinity, infinity}};
  if (batches == 0) batches = location_batches(values.size());
  std::vector<double> centers;
  for (std::size_t i = 0; i < batches; ++i) {
    const std::size_t first = i * values.size() / batches;
    const std::size_t last = (i + 1) * values.size() / batches;
    const auto batch = values.subspan(first, last - first);
    // With three values, one outlier changes the pseudo-median, but not the median.
    centers.push_back(batch.size() == 3 ? median({batch.begin(), batch.end()}) : pseudo_median(batch));
  }
  const auto n = static_cast<double>(batches);
  double mean = 0;
  for (const double x : centers) mean += x / n;
  double squares = 0;
  for (const double x : centers) squares += (x - mean) * (x - mean);
  const double half = student_t(alpha, n - 1) * std::sqrt(squares / (n - 1) / n);
  return {center, {std::min(center, mean - half), std::max(center, mean + half)}};
}

/// The location of positive values, computed in log space; `batches` as for `location`.
inline estimate positive_location(std::span<const double> values, double alpha, std::size_t batches = 0) {
  std::vector<double> logs;
  for (const double x : values) logs.push_back(std::log(x));
  const auto e = location(logs, alpha, batches);
  return {std::exp(e.value), {std::exp(e.range.low), std::exp(e.range.high)}};
}

/// The speedup (baseline time over candidate time) from paired blocks in time order: the pseudo-median of the
/// ratios in log space, with an interval of confidence 1 - alpha. Pairs whose times are not both positive are
/// left out; the result is 0 if none remain.
inline estimate speedup_of(std::span<const timing_pair> pairs, double alpha) {
  std::vector<double> ratios;
  for (const auto& pair : pairs) {
    if (pair.candidate_ns > 0 && pair.baseline_ns > 0) ratios.push_back(pair.baseline_ns / pair.candidate_ns);
  }
  if (ratios.empty()) return {};
  return positive_location(ratios, alpha);
}

/// The weighted geometric mean of independent positive estimates. Half widths of the intervals add in
/// quadrature in log space, separately for the lower and the upper side. If any value is 0, the mean is 0, so
/// that a workload that fails is never left out of the mean.
inline estimate geometric_mean(std::span<const weighted_estimate> parts) {
  double weights = 0;
  double sum = 0;
  double down = 0;
  double up = 0;
  for (const auto& [ratio, weight] : parts) {
    if (!(ratio.value > 0)) return {};
    weights += weight;
    const double center = std::log(ratio.value);
    const double low =
        ratio.range.low > 0 ? std::log(ratio.range.low) : -std::numeric_limits<double>::infinity();
    sum += weight * center;
    if (weight > 0) {
      down += weight * weight * (center - low) * (center - low);
      const double width = std::log(ratio.range.high) - center;
      up += weight * weight * width * width;
    }
  }
  if (!(weights > 0)) return {};
  const double center = sum / weights;
  return {std::exp(center),
          {std::exp(center - std::sqrt(down) / weights), std::exp(center + std::sqrt(up) / weights)}};
}

/// The conclusion from the interval of a speedup. `faster` and `slower`: the interval lies completely above
/// or below [1 - margin, 1 + margin]. `same`: it lies within. `ambiguous`: neither.
enum class comparison { faster, slower, same, ambiguous };

/// The name of a conclusion.
inline constexpr std::string_view to_string(comparison c) {
  constexpr std::string_view names[] = {"faster", "slower", "same", "ambiguous"};
  return names[static_cast<std::size_t>(c)];
}

/// The conclusion from the confidence interval of a speedup: whether the speedup differs from 1 by more than
/// `margin`.
inline comparison compare(const interval& speedup, double margin = 0.01) {
  if (speedup.low > 1 + margin) return comparison::faster;
  if (speedup.high < 1 - margin) return comparison::slower;
  if (speedup.low >= 1 - margin && speedup.high <= 1 + margin) return comparison::same;
  return comparison::ambiguous;
}

}  // namespace kevo
