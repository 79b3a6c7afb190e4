#pragma once
// One evaluation on its way through the cascade of the CUDA fitness function.

#include <cstddef>
#include <optional>
#include <vector>

#include <kevo/task.hpp>

#include "fitness/cascade/cascade.hpp"
#include "fitness/cuda/measure/gpu_bench.hpp"
#include "fitness/oracle/suite_rule.hpp"

namespace kevo::cuda {

/// What is known of the candidate so far.
struct evaluation_state : cascade_state {
  built_program built = {};
  gpu_bench::call_profile profile = {};
  std::vector<double> resolution_ns = {};  // of the clock, for a call of each workload; 0: far below any time
  std::vector<std::size_t> too_short = {};  // workloads whose figure is the clock's resolution
  suite_verdict by_suite = {};              // what KernelBench's rule says
  double checked_s = 0;  // when the checks before the timing ended, since the device is held
  double timed_s = 0;    // and when the times were taken; 0: never
  std::optional<std::size_t> no_room = {};  // the workload on which it says that it found no memory
  bool sparing = false;                     // no processes in advance, which take memory
};

/// Writes the failure of a workload into the result.
void fail(evaluation_state& p, std::size_t index, const workload& w, const call_failure& failure);

}  // namespace kevo::cuda
