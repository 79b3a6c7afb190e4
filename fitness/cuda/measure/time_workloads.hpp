#pragma once
// Timing a candidate: pairs with the baseline, looks at the estimates so far, and whether a device can be so
// fast.

#include "fitness/cuda/measure/evaluation_state.hpp"

namespace kevo::cuda {

/// Times the visible workloads until the speedup is known well enough for what was wanted. @param fresh a
/// confirmation, in processes of its own. Answers whether the candidate is still in order.
bool time_workloads(gpu_bench& bench, evaluation_state& p, program_runner& candidate, bool fresh);

/// Whether a device can be so fast. What the clock of this mode cannot tell from a possible time is valid,
/// its figure no better than the clock.
bool judge_times(const gpu_bench& bench, evaluation_state& p, program_kind kind);

/// The speedups over the further baselines of the task.
void time_other_baselines(gpu_bench& bench, evaluation_state& p, program_runner& candidate);

}  // namespace kevo::cuda
