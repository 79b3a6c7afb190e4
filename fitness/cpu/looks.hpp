#pragma once
// When the pairs of a timing are looked at, and when it may end: pure functions of the settings and of what a
// pair takes.

#include <algorithm>
#include <cstddef>
#include <vector>

#include <kevo/fitness/cpu.hpp>

namespace kevo {

/// One look at all pairs so far.
struct planned_look {
  int pairs = 0;  ///< so many, if there is time
  int least = 0;  ///< so many in any case
  /// [s] of a workload, all looks together: no further pair begins that is expected to end later.
  double seconds = 0;
  bool last_by_time = true;  ///< whether it is the last look if that time is over for each workload
};

/// Every timing has so many pairs of each workload: fewer have no interval.
inline constexpr int fewest_pairs = 3;

/// Whether a further pair would end after `seconds`, if it takes as long as the ones so far, which took
/// `spent_s` together.
inline bool time_is_over(std::size_t pairs, double spent_s, double seconds) {
  const double of_a_pair = pairs > 0 ? spent_s / static_cast<double>(pairs) : 0;
  return spent_s + of_a_pair > seconds;
}

/// Of a candidate that is far from the best: its place is not worth more.
inline std::vector<planned_look> brief_looks() {
  return {{fewest_pairs, fewest_pairs, 0, true}};
}

/// Of a candidate that may be the best. @param pair_s [s] of one pair of the slowest workload
inline std::vector<planned_look> ordinary_looks(const timing_budget& budget, double pair_s) {
  constexpr int first = 4;  // fewer decide next to nothing, however short the time is
  std::vector<planned_look> looks = {
      {std::max(budget.short_blocks, fewest_pairs), first, budget.short_s, false}};
  // Of pairs that long, two more would take longer than all looks may.
  const int least = 2 * pair_s > budget.full_s ? first : first + 2;
  const auto add = [&](int pairs) { looks.push_back({pairs, least, budget.full_s, true}); };
  while (5 * looks.back().pairs < 2 * budget.full_blocks) add(5 * looks.back().pairs / 2);
  if (budget.full_blocks > looks.back().pairs) add(budget.full_blocks);
  return looks;
}

/// A confirmation ends as soon as its interval is narrow. Where a pair has several processes of the
/// candidate, five pairs may be enough; if time is up before there are eight, eight are all that there will
/// be, and the first look is at five. It has half of the error probability then, and the look at eight has
/// the other half.
/// @param pair_s [s] of one pair of the slowest workload @param processes of the candidate in such a pair
inline std::vector<planned_look> confirming_looks(const timing_budget& budget, double pair_s, int processes) {
  constexpr int first = 5;
  constexpr int least = 8;
  const double seconds = 3 * budget.full_s;
  if (processes > 1 && least * pair_s > seconds && budget.full_blocks >= 4 * first)
    return {{first, first, seconds, false}, {4 * first, least, seconds, true}};
  std::vector<planned_look> looks;
  for (const int pairs : {10, 20}) {
    if (pairs < budget.full_blocks) looks.push_back({pairs, least, seconds, true});
  }
  looks.push_back({budget.full_blocks, least, seconds, true});
  return looks;
}

}  // namespace kevo
