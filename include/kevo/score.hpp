#pragma once
// Functions to compare scores. A score is any finite number, and greater is better; a speedup is a positive
// score. To compute shares of scores, scores are shifted so that the lowest one becomes 0 if it is negative.

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

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

/// Replaces scores by values that a model can learn, in the same order: logarithms where all scores are
/// positive (speedups), those of the magnitudes, negated, where all are negative (costs), and else distances
/// from the median in units of the median distance. O(n log n).
inline void to_model_values(std::vector<double>& scores) {
  if (scores.empty()) return;
  const auto [least, most] = std::minmax_element(scores.begin(), scores.end());
  if (*least > 0) {
    for (double& score : scores) score = std::log(score);
  } else if (*most < 0) {
    for (double& score : scores) score = -std::log(-score);
  } else {
    const auto middle_of = [](std::vector<double> values) {
      const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
      std::nth_element(values.begin(), middle, values.end());
      return *middle;
    };
    const double middle = middle_of(scores);
    const double span = *most - *least;
    for (double& score : scores) score -= middle;
    std::vector<double> distances;
    for (const double score : scores) distances.push_back(std::abs(score));
    const double usual = middle_of(std::move(distances));
    const double unit = usual > 0 ? usual : span > 0 ? span : 1;
    for (double& score : scores) score /= unit;
  }
}

}  // namespace kevo
