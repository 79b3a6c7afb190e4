#pragma once
// Buckets of scores with a relative width and temperature, so that they mean the same at speedups of 2 and
// 200.

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace kevo::detail {

/// The number of the bucket of a score: those of one bucket differ by less than the factor 1 + `width`. A
/// greater score has no smaller number.
inline std::int64_t score_bucket(double score, double width) {
  if (score == 0) return 0;
  constexpr double middle = 1e15;  // so that numbers of positive scores are positive
  const double steps = std::floor(std::log(std::abs(score)) / std::log1p(width));
  const auto number = static_cast<std::int64_t>(middle + std::clamp(steps, -middle / 2, middle / 2));
  return score > 0 ? number : -number;
}

/// The weight of a bucket in a softmax over mean scores. The unit of the temperature is the greatest mean.
inline double bucket_weight(double mean, double greatest, double temperature) {
  const double unit = greatest == 0 ? 1 : std::abs(greatest);
  return std::exp((mean - greatest) / (temperature * unit));
}

}  // namespace kevo::detail
