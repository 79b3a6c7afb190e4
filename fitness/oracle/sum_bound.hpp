#pragma once
// How far the elements of an output may be off under the rule "accumulation".

#include <cstdint>

#include <kevo/task.hpp>

#include "fitness/oracle/element_type.hpp"

namespace kevo {

/// The bound of an element is `slope` (or `cancelling`) times its scale, plus `underflow`.
struct sum_bound {
  double summands = 1;  ///< K, the number of terms
  /// factor * u * sqrt(K): rounding errors of sums whatever the signs of their terms.
  double slope = 0;
  /// For terms with signs at random, whose partial sums stay small: a sum in any order is off by about
  /// u / 2 of its scale then, whatever K (N. J. Higham, T. Mary, "Sharper probabilistic backward error
  /// analysis for basic linear algebra kernels with random data", SIAM J. Sci. Comput. 42, 2020). Inputs
  /// rounded to the precision below make errors of about u' / sqrt(K) of the scale: the bound is below half
  /// of that, so that it refuses them. It is not below factor * 2 u, and equal to `slope` where that is
  /// narrow enough.
  double cancelling = 0;
  double underflow = 0;  ///< K of the smallest positive numbers
};

/// @param length K, at least 1
sum_bound bound_sums(const element_type& type, const tolerance& rule, std::int64_t length);

/// Whether a generator's values have either sign with the same probability.
/// @param resolved the generator with its sizes put in
bool has_random_signs(const generator& resolved);

/// Whether the sums of an output cancel as those of terms with signs at random do, where each result is about
/// its scale / sqrt(K). Sums of squares, for example, do not.
/// @param results sum of the squares of all expected values
/// @param scales sum of the squares of all scales
bool sums_cancel(const sum_bound& bound, double results, double scales);

}  // namespace kevo
