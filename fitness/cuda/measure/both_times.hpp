#pragma once
// Device times and host times of the same calls, beside each other in one evaluation. Pure.

#include <kevo/evaluation.hpp>

namespace kevo::cuda {

/// Writes both kinds of times into the fields of `e` that have a name for each.
/// @param e its times, speedups and their intervals are of the kind that counts
/// @param other the same of the other kind; nothing is written where it has no speedup
/// @param host_counts the kind that counts is that of the host times
void keep_both(evaluation& e, const evaluation& other, bool host_counts);

/// The evaluation with the device's times as those of its workloads.
evaluation by_device_times(evaluation e);

}  // namespace kevo::cuda
