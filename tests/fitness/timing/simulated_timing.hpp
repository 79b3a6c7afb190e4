#pragma once
// A timing of one workload from given pairs, as `time_by_looks` makes it.

#include <cmath>
#include <vector>

#include <kevo/evaluate/statistics.hpp>

#include "fitness/cascade/signed_rank.hpp"
#include "fitness/timing/looks.hpp"

namespace kevo_test {

struct simulated {
  bool misses = false;  // the interval does not contain the true speedup
  bool behind = false;  // its interval says that the candidate is not among the best
  bool ahead = false;   // its interval lies above 1
  int pairs = 0;
};

/// The end of a timing at that look.
inline simulated ended(const kevo::estimate& e, double speedup, std::size_t pairs) {
  return {e.range.low > speedup || e.range.high < speedup, e.range.high<1, e.range.low> 1,
          static_cast<int>(pairs)};
}

/// @param pair_s [s] of a pair @param target width of the interval @param speedup the true one @param pair
/// gives the logarithm of the next pair's ratio beyond that
template <class Pair>
simulated simulate(const kevo::timing_looks& looks, double alpha, double pair_s, double target,
                   double speedup, const Pair& pair) {
  using namespace kevo;
  std::vector<double> ratios;
  const auto count = [&] { return static_cast<int>(ratios.size()); };
  for (int pairs = looks.first, before = 0;; pairs = pairs_of_next_look(pairs, looks.last)) {
    const bool first = pairs == looks.first;
    const double seconds = first ? looks.first_s : looks.seconds;
    const auto late = [&] {
      return count() >= least_pairs(looks, first, count(), pair_s * count()) &&
             time_is_over(count(), pair_s * count(), seconds);
    };
    while (count() < pairs && !late()) ratios.push_back(speedup * std::exp(pair()));
    if (looks.by_standing && looks.first < looks.last) {
      const auto e = positive_signed_rank(ratios, alpha_of_standing(looks, alpha, pairs, before));
      if (e.range.high < 1) return ended(e, speedup, ratios.size());
    }
    const auto e = positive_signed_rank(ratios, alpha_of_width(looks, alpha));
    const bool narrow = e.range.high - e.range.low < target * e.value;
    if (narrow || pairs >= looks.last || (!first && late())) return ended(e, speedup, ratios.size());
    before = pairs;
  }
}

}  // namespace kevo_test
