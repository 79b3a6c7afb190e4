#pragma once
// Scores: what may be said of numbers of which only the order is given. A score is any finite number, and
// greater is better; speedups are positive ones. Where a share or a weight is wanted, scores are shifted so
// that the lowest one counts from 0 if it is negative.

#include <algorithm>
#include <cmath>
#include <optional>

namespace kevo {

/// The gain of `score` over `before`, relative to the magnitude of `before`; over 0 it is 1, 0 or -1.
inline double relative_gain(double score, double before) {
  if (before > 0) return score / before - 1;
  if (before < 0) return (score - before) / -before;
  return score > 0 ? 1 : score < 0 ? -1 : 0;
}

/// Whether `score` is above `best` by more than the share `margin` of the magnitude of `best`; true if there
/// is no best.
inline bool improves(double score, std::optional<double> best, double margin) {
  return !best || score > *best * (*best > 0 ? 1 + margin : 1 - margin);
}

/// The best score of a run so far, and what all scores are counted from.
struct score_range {
  std::optional<double> best;
  double origin = 0;  ///< the lowest score, if it is negative; else 0

  /// Takes notice of a score without making it the best.
  void include(double score) { origin = std::min(origin, score); }
  /// A gain as a share of the range, in [0, 1]; 1 while there is no best score. `from_nothing`: the gain is a
  /// score that displaced nothing.
  double share(double gain, bool from_nothing) const {
    if (!best) return 1;
    return std::clamp((gain - (from_nothing ? origin : 0)) / std::max(*best - origin, 1e-300), 0.0, 1.0);
  }
};

}  // namespace kevo
