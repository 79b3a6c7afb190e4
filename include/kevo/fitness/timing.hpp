#pragma once
// How long the timing of a candidate may take: settings that all fitness functions have which time programs.

namespace kevo {

/// How long timing may take, for each workload. Candidate and baseline are timed in pairs. A look computes the
/// interval of the speedup from all pairs so far; docs/statistics.md says when looks are taken and what their
/// intervals are. The defaults are those of C++ programs on a CPU.
struct timing_settings {
  int short_pairs = 5;        ///< number of pairs of the first look
  int pairs = 40;             ///< number of pairs of the last look
  int confirming_pairs = 40;  ///< number of pairs of the last look of a confirmation
  double short_s = 0.4;       ///< [s] the first look begins no pair that would end later; it has at least 4
  /// [s] All looks together begin no further pair that would end after this time; they have at least 6 pairs,
  /// or 4 if two further pairs would take longer than this time. A confirmation has three times this time and
  /// at least 8 pairs, or 5 if its interval is narrow then and there is no time for more than 8.
  double full_s = 2;
  double sustained_s = 0.5;  ///< [s] a confirmation then times the candidate alone for this long; 0: not
  double target_interval =
      0.014;  ///< timing ends early if the interval is narrower than this fraction of the speedup
  double alpha = 0.01;  ///< probability that an interval misses the true speedup, for all looks together
};

}  // namespace kevo
