#pragma once
// What a process can have stored for its timed calls before they begin: as much as it has memory for.

#include <algorithm>

namespace kevo {

/// Of a candidate's process, beyond what a process of the baseline takes and holds.
struct stored_work {
  double set_up_ns = 0;  ///< for loading and the first call
  double bytes = 0;      ///< after the first call; pages count that were never touched, which are zeros
};

/// How many calls could be made shorter by `least_gain` of their time by what was stored. What is used up by
/// calls is memory that was filled for them: to spare a call the time in which new pages are filled takes so
/// many bytes.
inline double calls_served(const stored_work& stored, double call_ns) {
  constexpr double least_gain = 0.05;
  constexpr double filled_bytes_per_ns = 2;
  return stored.bytes / (filled_bytes_per_ns * least_gain * std::max(call_ns, 1.0));
}

}  // namespace kevo
