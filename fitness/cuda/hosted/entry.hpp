#pragma once
// Hosted launch: which programs are hosted, the trusted entry that is compiled with one, and what a call
// hands to it.

#include <cstdint>
#include <string>

#include <kevo/program.hpp>
#include <kevo/task.hpp>

#include "fitness/cuda/hosted/call.hpp"
#include "fitness/cuda/wire/plan.hpp"

namespace kevo::cuda {

/// Whether a program brings its own host code: it has no launch line and speaks of `run(` and cudaStream_t.
/// O(length of the text).
bool is_hosted(const program& source);

/// The text of kevo_entry.cu: includes the main file and defines `hosted_symbol`, which calls
/// `int run(inputs..., outputs..., axes as int64_t..., cudaStream_t)`. Another `run` does not compile.
/// Pointers may have any element type of the right size, so that 16-bit types are the candidate's choice;
/// inputs must be const.
std::string hosted_entry(const task& t, const std::string& main_file);

/// "extern \"C\" int run(const float* A, float* C, int64_t M, cudaStream_t stream)": for messages.
std::string hosted_prototype(const task& t);

/// A call of a hosted program on one workload, in the form of a plan: one step, whose arguments are the
/// buffers in their order, then scalars and variable axes as 8 bytes each.
/// @throws kevo::error (input) for an axis without a value
plan hosted_plan(const task& t, const workload& w);

}  // namespace kevo::cuda
