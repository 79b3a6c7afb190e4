#pragma once
// Functions to compare scores. A score is any finite number, and greater is better; a speedup is a positive
// score. To compute shares of scores, scores are shifted so that the lowest one becomes 0 if it is negative.

#include <algorithm>
#include <cmath>
#include <optional>

namespace kevo {

/// The gain of `score` over `before`, relative to the magnitude of `before`. If `before` is 0, it is 1, 0 or
/// -1.
inline double relative_gain(double score, double before) {
  if (before > 0) return score / before - 1;
  if (before < 0) return (score - before) / -before;
  return score > 0 ? 1 : score < 0 ? -1 : 0;
}

/// Whether `score` exceeds `best` by more than `margin` times the magnitude of `best`; true if there is no
/// best score.
inline bool improves(double score, std::optional<double> best, double margin) {
  return !best || score > *best * (*best > 0 ? 1 + margin : 1 - margin);
}

/// The range of the scores of a run: from `origin` to `best`.
struct score_range {
  std::optional<double> best;  ///< the best score; nothing if there is none
  double origin = 0;           ///< the lowest score if it is negative, else 0

  /// Extends the range downwards to a score. Does not change `best`.
  void include(double score) { origin = std::min(origin, score); }
  /// A gain as a share of the range, in [0, 1]; 1 while there is no best score. `from_nothing`: `gain` is the
  /// whole score of a candidate that displaced none, so it is measured from `origin`.
  double share(double gain, bool from_nothing) const {
    if (!best) return 1;
    return std::clamp((gain - (from_nothing ? origin : 0)) / std::max(*best - origin, 1e-300), 0.0, 1.0);
  }
};

}  // namespace kevo
