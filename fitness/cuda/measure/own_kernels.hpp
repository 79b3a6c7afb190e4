#pragma once
// What share of the device's time a program of PyTorch spends in kernels of its own, as a process of the
// program says that watches a call of it (CUPTI, through PyTorch's profiler).

#include <optional>
#include <string>
#include <string_view>

#include "fitness/cuda/measure/evaluation_state.hpp"
#include "fitness/cuda/measure/gpu_bench.hpp"

namespace kevo::cuda {

/// What the process said. The figures are claims of a process that runs the program: a program that wants to
/// can make them up, and gains no time and no verdict on its results by it.
struct kernel_share {
  double own_us = 0;
  double all_us = 0;  ///< kernels and copies of the program; not the copy of its results by kevo
  int kernels = 0;    ///< how many there were

  double share() const { return all_us > 0 ? own_us / all_us : 0; }
};

/// Reads {"own_us": 1.5, "all_us": 2, "kernels": 3}. Pure. @return nothing for anything else, and for figures
/// that cannot be
std::optional<kernel_share> read_kernel_share(std::string_view text);

/// Has a process of its own watch a call of the candidate on the visible workload with the least data, and
/// writes the measure `own_kernel_share`, or in the context why there is none. Ends the candidate's process.
/// Where the rule fitness.own_kernel_share refuses the candidate, `p.result` is not valid afterwards.
void watch_own_kernels(gpu_bench& bench, evaluation_state& p, program_runner& candidate);

}  // namespace kevo::cuda
