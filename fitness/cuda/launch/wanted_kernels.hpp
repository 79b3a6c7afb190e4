#pragma once
// Which kernels a program's launch lines need compiled, for all workloads of a task.

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include <kevo/task.hpp>

#include "fitness/cuda/launch/resolve.hpp"

namespace kevo::cuda {

/// Kernels by their names for the compiler.
struct wanted_kernels {
  std::vector<std::string> names;
  /// How many of them people may be told of. In CUDA all; in Triton the variants that visible workloads
  /// launch, which come first.
  std::size_t visible = 0;
};

/// The kernels that a program in CUDA or Triton launches. The reason of a failure says nothing of hidden
/// workloads. @param t a task with at least one workload
std::variant<wanted_kernels, launch_failure> kernels_to_compile(const declared_launch& lines,
                                                                const program& source, const task& t,
                                                                const device_facts& facts);

}  // namespace kevo::cuda
