#pragma once
// How the error probability of an interval is divided among the looks at growing numbers of pairs.

#include <algorithm>
#include <cmath>
#include <utility>

namespace kevo {

/// Gives each look its part of the error probability (alpha spending, Lan and DeMets 1983): by the square
/// root of the planned pairs so far, so that the first look can still turn candidates away. The last look has
/// all that is left, also where time ends the looks before their plan does: how long pairs take says nothing
/// of which program is faster.
class error_budget {
 public:
  /// @param pairs of the last look that is planned
  error_budget(double alpha, int pairs) : alpha_(alpha), pairs_(pairs) {}
  /// The part of the next look, which has so many pairs by the plan.
  double next(int planned, bool last) {
    const double share = last ? 1 : std::sqrt(static_cast<double>(planned) / static_cast<double>(pairs_));
    const double before = std::exchange(spent_, alpha_ * std::min(share, 1.0));
    return spent_ - before;
  }

 private:
  double alpha_;
  int pairs_;
  double spent_ = 0;
};

}  // namespace kevo
