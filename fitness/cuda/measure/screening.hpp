#pragma once
// What a candidate has to pass before it is timed, and its hidden workloads: each function answers whether it
// may go on, and writes the reason into the result if not.

#include "fitness/cuda/measure/evaluation_state.hpp"

namespace kevo::cuda {

/// Compiles the candidate.
bool build_candidate(gpu_bench& bench, evaluation_state& p);

/// The visible workloads, the one with the least data first, or the hidden ones.
bool check_workloads(gpu_bench& bench, evaluation_state& p, program_runner& candidate, bool hidden);

/// An optional gate: each run in a process of its own gives the bits of the first.
bool same_bits(gpu_bench& bench, evaluation_state& p, program_runner& candidate);

/// Optional gates: NVIDIA's checkers watch one call in a process of their own.
bool pass_checkers(gpu_bench& bench, evaluation_state& p, program_runner& candidate);

}  // namespace kevo::cuda
