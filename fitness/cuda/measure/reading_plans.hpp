#pragma once
// How many calls make one reading of a program on the device. Pure.

#include <cstdint>

#include "fitness/cuda/measure/further_readings.hpp"

namespace kevo::cuda {

/// What one reading is: `calls` distinct calls as one measurement, the median of `repeats` of them.
struct reading_plan {
  std::uint32_t calls = 1;
  int repeats = 1;
  bool cold = false;
  std::uint32_t untimed = 0;  ///< calls in front of each interval, before its clock runs
  bool slow_start = false;    ///< a process of the candidate takes long to start: one does for a block
  std::uint32_t pairs = 1;    ///< of a block, where processes start slowly
  further_plan further = {};  ///< of a block, where processes start slowly
};

/// Short calls are measured several at a time (for about 0.15 ms), where the cache may be warm; a cold call
/// is always by itself, the short ones repeated. @param alone so are warm ones: the host code of one side
/// cannot wait within a graph; @param contents how many distinct calls a process can be given
/// @param room calls that the arenas hold at once
reading_plan plan_readings(double candidate_ns, double baseline_ns, bool cold, bool alone,
                           std::uint32_t contents, std::uint32_t room);

/// No reading has more calls at a time, where no call takes less than `least_ns` (0: unknown).
std::uint32_t most_calls_of_reading(double least_ns);

/// For intervals by the trusted clock: as many distinct calls as make 2 ms, where there are contents and room
/// for them. @param room calls that the arena holds
reading_plan plan_intervals(double candidate_ns, double baseline_ns, bool cold, std::uint32_t contents,
                            std::uint32_t room);

/// The same for programs in Python, whose calls vary more: 12 ms, after calls that are not timed, because the
/// first calls after a rest are slow.
reading_plan plan_python_intervals(double candidate_ns, double baseline_ns, bool cold, std::uint32_t contents,
                                   std::uint32_t room);
/// How long they are, with the calls that are not timed. [ns]
inline constexpr double python_interval_ns = 12e6;

}  // namespace kevo::cuda
