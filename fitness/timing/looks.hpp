#pragma once
// When the pairs of a timing are looked at, when it may end, and with which error probability. Pure functions
// of the settings and of what a pair takes.
//
// A timing ends for one of three reasons. The interval of the speedup is narrow: that depends on how much the
// pairs vary and not on where they lie, so that the interval may be looked at often without dividing the
// error probability among the looks (fixed-width intervals: Chow and Robbins 1965). The candidate is not
// among the best: that depends on where the pairs lie, so that these looks share an error probability, by the
// square root of the pairs so far (alpha spending: Lan and DeMets 1983). Or all pairs have been taken that
// are allowed, or that there is time for: how long pairs take says nothing of which program is faster.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>

#include <kevo/evaluation.hpp>
#include <kevo/fitness/timing.hpp>

namespace kevo {

/// The looks of one timing.
struct timing_looks {
  int first = 0;        ///< pairs at the first look
  int last = 0;         ///< pairs at the last look, if there is time; `first`: one look
  int first_least = 0;  ///< pairs at the first look in any case
  double first_s = 0;   ///< [s] of a workload: the first look begins no pair that is expected to end later
  int least = 0;        ///< pairs in any case of a timing that goes on
  double seconds = 0;   ///< [s] of a workload, for all looks together
  /// Pairs are so slow that `first_least` of them are enough if two more would take longer than `seconds`.
  bool few_if_slow = false;
  /// Ends also for a candidate that is not among the best. One look has one interval for both.
  bool by_standing = false;
  /// What an evaluation has been through then; nothing: `timing_end` says it.
  std::optional<evaluation_stage> stage = std::nullopt;
};

/// Every timing has so many pairs of each workload: fewer have no interval.
inline constexpr int fewest_pairs = 3;

/// Whether a further pair would end after `seconds`, if it takes as long as the ones so far, which took
/// `spent_s` together.
inline bool time_is_over(int pairs, double spent_s, double seconds) {
  const double of_a_pair = pairs > 0 ? spent_s / pairs : 0;
  return spent_s + of_a_pair > seconds;
}

/// The pairs at the look after one of `pairs` pairs: a fifth more.
inline int pairs_of_next_look(int pairs, int last) {
  return std::min(last, pairs + std::max(1, pairs / 5));
}

/// The error probability of an interval whose width ends a timing. Whoever stops at the first narrow interval
/// stops a little too early, so that it is half of what there is for that; where the standing of a candidate
/// ends timings, too, that has half of `alpha`.
inline double alpha_of_width(const timing_looks& looks, double alpha) {
  if (looks.first >= looks.last) return alpha;
  return looks.by_standing ? alpha / 4 : alpha / 2;
}

/// The error probability of an interval that ends a timing because the candidate is not among the best.
/// @param pairs of the look @param before of the look before it; 0 for the first
inline double alpha_of_standing(const timing_looks& looks, double alpha, int pairs, int before) {
  const auto spent = [&](int n) { return alpha / 2 * std::sqrt(static_cast<double>(n) / looks.last); };
  return spent(pairs) - spent(before);
}

/// So many pairs of a workload are taken in any case. @param pairs so far @param spent_s of these
inline int least_pairs(const timing_looks& looks, bool first, int pairs, double spent_s) {
  if (first) return looks.first_least;
  const bool slow = looks.few_if_slow && pairs > 0 && 2 * spent_s / pairs > looks.seconds;
  return slow ? looks.first_least : looks.least;
}

/// The number of batches of an interval (kevo::location) of so many pairs of the same processes. Pairs of a
/// device that is used by nothing else hardly resemble their neighbours more than others, so that small
/// batches do: at least 16, from 32 pairs on half as many as pairs, at most 32.
inline std::size_t batches_of_pairs(std::size_t pairs) {
  return std::min(pairs, std::clamp<std::size_t>(pairs / 2, 16, 32));
}

/// Of a candidate that is far from the best: its place is not worth more.
inline timing_looks brief_looks() {
  return {.first = fewest_pairs,
          .last = fewest_pairs,
          .first_least = fewest_pairs,
          .least = fewest_pairs,
          .stage = evaluation_stage::timed_short};
}

/// Of a first measurement. @param only_short ends after the first look whatever it shows
inline timing_looks first_looks(const timing_settings& settings, bool only_short) {
  constexpr int first_least = 4;  // fewer decide next to nothing, however short the time is
  const int first = std::max(settings.short_pairs, 1);
  return {.first = first,
          .last = only_short ? first : std::max(first, settings.pairs),
          .first_least = std::min(first, first_least),
          .first_s = settings.short_s,
          .least = first_least + 2,
          .seconds = settings.full_s,
          .few_if_slow = true,
          .by_standing = true,
          .stage = only_short ? std::optional(evaluation_stage::timed_short) : std::nullopt};
}

/// Of a confirmation, whose interval is the one that people read. Where a pair has several processes of the
/// candidate, five pairs may be enough. @param pair_s [s] of one pair of the slowest workload, 0 if unknown
/// @param processes of the candidate in such a pair
inline timing_looks confirming_looks(const timing_settings& settings, double pair_s, int processes) {
  constexpr int few = 5;
  constexpr int least = 8;
  const double seconds = 3 * settings.full_s;
  const bool slow = processes > 1 && least * pair_s > seconds && settings.confirming_pairs >= 4 * few;
  const int last = std::max(settings.confirming_pairs, 1);
  const int first = std::min(slow ? few : least, last);
  return {.first = first,
          .last = last,
          .first_least = first,
          .first_s = seconds,
          .least = least,
          .seconds = seconds,
          .stage = evaluation_stage::confirmed};
}

/// Of a comparison with a further baseline, whose speedup is shown beside the one that counts: one look,
/// which has all of the error probability. It is not worth as much time as the other one. Only a confirmed
/// candidate has them.
inline timing_looks further_looks(const timing_settings& settings) {
  constexpr int enough = 8;
  const int pairs = std::clamp(settings.confirming_pairs, fewest_pairs, enough);
  return {.first = pairs,
          .last = pairs,
          .first_least = fewest_pairs,
          .first_s = settings.full_s,
          .least = fewest_pairs,
          .stage = evaluation_stage::confirmed};
}

}  // namespace kevo
