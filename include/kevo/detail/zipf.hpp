#pragma once
// Draws ranks from a power law, exactly and in constant expected time.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <kevo/random.hpp>

namespace kevo::detail {

/// A rank in [0, n) with probability proportional to (rank + 1)^-alpha, for alpha >= 0 and n >= 1. Exact for
/// every n, without tables, with fewer than 1.3 tries expected: rejection-inversion (Hoermann and Derflinger,
/// "Rejection-inversion to generate variates from monotone discrete distributions", ACM TOMACS 6(3), 1996).
inline std::uint64_t zipf(std::uint64_t n, double alpha, rng& random) {
  if (n <= 1) return 0;
  // Integral of x^-alpha from 1, and its inverse. Both are accurate when alpha is close to 1.
  const auto integral = [alpha](double x) {
    const double t = (1 - alpha) * std::log(x);
    return std::log(x) * (std::abs(t) > 1e-8 ? std::expm1(t) / t : 1 + t / 2);
  };
  const auto inverse = [alpha](double y) {
    const double t = std::max(y * (1 - alpha), -1.0);
    return std::exp(y * (std::abs(t) > 1e-8 ? std::log1p(t) / t : 1 - t / 2));
  };
  const auto weight = [alpha](double x) { return std::exp(-alpha * std::log(x)); };
  const auto last = static_cast<double>(n);
  const double low = integral(1.5) - 1;
  const double high = integral(last + 0.5);
  const double shortcut = 2 - inverse(integral(2.5) - weight(2));
  for (;;) {
    const double u = high + random.uniform() * (low - high);
    const double x = inverse(u);
    const double k = std::clamp(std::floor(x + 0.5), 1.0, last);
    if (k - x <= shortcut || u >= integral(k + 0.5) - weight(k)) return static_cast<std::uint64_t>(k) - 1;
  }
}

}  // namespace kevo::detail
