#pragma once
// From launch lines to plans: every number worked out for one workload, on one device, with one compiled
// module. What is wrong with a candidate's lines is a value.

#include <string>
#include <variant>
#include <vector>

#include "fitness/cuda/launch/device_facts.hpp"
#include "fitness/cuda/launch/launch_lines.hpp"
#include "fitness/cuda/launch/launch_signature.hpp"
#include "fitness/cuda/wire/module.hpp"
#include "fitness/cuda/wire/plan.hpp"

namespace kevo::cuda {

/// Why a candidate cannot be launched: the outcome launch_failed.
struct launch_failure {
  std::string reason;  ///< a whole sentence with file, line and column
  friend bool operator==(const launch_failure&, const launch_failure&) = default;
};

using launch_reading = std::variant<declared_launch, launch_failure>;
using launch_resolution = std::variant<plan, launch_failure>;
using kernel_names_result = std::variant<std::vector<std::string>, launch_failure>;

/// `parse_launch_lines`, with errors as a value.
launch_reading read_launch_lines(const program& source);

/// The kernels that the lines may launch, as C++ names them, each once, in order of first mention:
/// "transpose", "matmul<64, float>". These are the name expressions to compile with. Checks every name of
/// every line, also of those whose condition does not hold. Template arguments that are integer expressions
/// are worked out; all others go to the compiler as written, with tunables put in. What is compiled must not
/// depend on a workload (a hidden one would show in the compiler's messages): template arguments, and the
/// bounds of the loops whose index they use, speak of tunables, constant axes and `device.sms` alone. A
/// condition that speaks of more counts as true. @param any the signature of any workload of the task
kernel_names_result kernel_names(const declared_launch& lines, const launch_signature& any,
                                 const device_facts& facts);

/// The variants of Triton kernels that the lines launch on one workload, each once, as `resolve` looks for
/// them in the compiled module: "softmax('*fp32:16', 'i32', BLOCK=1024)". They may depend on the workload, so
/// that nobody may be told of variants that only hidden workloads launch.
kernel_names_result triton_variants(const declared_launch& lines, const launch_signature& workload,
                                    const device_facts& facts);

/// The plan of one workload. `occupancy(kernel)` means the blocks per multiprocessor of the first line that
/// launches that kernel (whatever its template arguments) on this workload, with that line's block and shared
/// memory. Fails if no line launches anything on this workload, on overflow, on anything that the device or
/// the kernel's compiled signature does not allow. The reason for a hidden workload says no more than that it
/// is one. Thread-safe if `facts.occupancy` is.
launch_resolution resolve(const declared_launch& lines, const launch_signature& workload,
                          const compiled_module& module, const device_facts& facts);

}  // namespace kevo::cuda
