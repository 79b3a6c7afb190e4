#pragma once
// From what a compiler answers to a module: which of its kernels were asked for, and what it keeps between
// calls.

#include <vector>

#include "fitness/cuda/compile/cubin.hpp"
#include "fitness/cuda/compile/cuda_compiler.hpp"

namespace kevo::cuda {

/// The kernels that were asked for, then the others. False, with the reason, if one that was asked for is no
/// kernel.
bool take_kernels(const cuda_build_request& request, const compile_answer& answer,
                  const std::vector<compiled_kernel>& found, cuda_build_result& result);

/// What the module keeps from one call to the next.
void take_lasting(const compile_answer& answer, cubin_contents contents, compiled_module& module);

/// Adds the kernels, images and variables of one module to another one.
void append(compiled_module more, bool hidden, compiled_module& module);

}  // namespace kevo::cuda
