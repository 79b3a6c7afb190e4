#pragma once
// Acceptance thresholds of cells that also accept candidates worse than the best one of the cell: the soft
// thresholds of CMA-MAE (Fontaine & Nikolaidis, 2023).

#include <cmath>

#include <kevo/error.hpp>

namespace kevo {

/// Soft thresholds (CMA-MAE: Fontaine & Nikolaidis, "Covariance matrix adaptation MAP-annealing", GECCO
/// 2023). Each cell has a threshold t, which starts at `least`. A candidate of score f is accepted if it is
/// above the threshold, and then moves the threshold (alpha is `rate`):
///
///     accept if f > t,   value = f - t,   t <- (1 - alpha) t + alpha f
///
/// So a cell also accepts and rewards candidates that are better than its threshold but not better than its
/// elite. The score of an elite may therefore fall. The population, the journal and the champion still keep
/// the best candidate. `rate` = 1 switches soft thresholds off: plain MAP-Elites. The paper uses 0.01, for
/// emitters with thousands of samples. With `rate` = 0 the threshold stays at `least`.
struct soft_threshold {
  double rate = 1;   ///< in [0, 1]; 1 switches soft thresholds off
  double least = 0;  ///< initial threshold, below all scores (the paper's min_f); speedups are above 0

  /// Whether soft thresholds are used.
  bool on() const { return rate < 1; }
};

/// Throws kevo::error (input) for a rate outside [0, 1] or an initial threshold that is not finite.
inline void check(const soft_threshold& soft) {
  if (!(soft.rate >= 0 && soft.rate <= 1) || !std::isfinite(soft.least)) {
    throw error(error_code::input, "a soft threshold needs a rate in [0, 1] and a finite initial value");
  }
}

}  // namespace kevo
