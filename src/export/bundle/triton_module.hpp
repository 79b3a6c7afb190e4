#pragma once
// Launch lines of a Triton program as a Python function of PyTorch's tensors.

#include <string>

#include <kevo/program.hpp>
#include <kevo/task.hpp>

#include "fitness/cuda/launch/launch_lines.hpp"

namespace kevo::bundle {

/// What the module is made of. Borrows all of it.
struct triton_module_parts {
  std::string name;  ///< of the function; an identifier
  const task* what = nullptr;
  const program* source = nullptr;  ///< one file
  const cuda::declared_launch* lines = nullptr;
};

/// The source of the program, followed by a function that takes the inputs of the task, makes the outputs,
/// launches the kernels as the launch lines say for these sizes, and returns the outputs.
/// @throws kevo::error (input), naming the line, for what it cannot express: occupancy(kernel), null
/// arguments, and numbers of other types than int32, float32 and bool, whose type PyTorch's launch chooses
std::string triton_module(const triton_module_parts& parts);

}  // namespace kevo::bundle
