#pragma once
// Thresholds for cells that accept more than improvements of their best: the soft acceptance of CMA-MAE
// (Fontaine & Nikolaidis, 2023).

#include <cmath>

#include <kevo/error.hpp>

namespace kevo {

/// Soft thresholds (CMA-MAE: Fontaine & Nikolaidis, "Covariance matrix adaptation MAP-annealing", GECCO
/// 2023): a cell takes what beats its threshold t, which begins at `least` and follows with `rate` alpha,
///
///     accept if f > t,   value = f - t,   t <- (1 - alpha) t + alpha f
///
/// so that a cell goes on accepting, and paying, candidates that are better than what it is used to, not only
/// than its best. An elite may fall by that; the population, the journal and the champion keep the best.
/// `rate` 1 is off: plain MAP-Elites. The paper has 0.01 for its emitters of thousands of samples; 0 never
/// forgets `least`.
struct soft_threshold {
  double rate = 1;
  double least = 0;  ///< the paper's min_f: below every score; 0 is below every speedup

  bool on() const { return rate < 1; }
};

/// Throws kevo::error (input) for a rate outside [0, 1] or a threshold that is not a number.
inline void check(const soft_threshold& soft) {
  if (!(soft.rate >= 0 && soft.rate <= 1) || !std::isfinite(soft.least)) {
    throw error(error_code::input, "a soft threshold needs a rate in [0, 1] and a finite initial value");
  }
}

}  // namespace kevo
