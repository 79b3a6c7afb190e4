#pragma once
// The trusted device code: contents, poison, comparison, the state of the cache, ceilings, and the kernel
// that holds calls back until the clock runs. One source, compiled for the device at hand when it is first
// needed.

#include <string>
#include <string_view>
#include <vector>

namespace kevo::cuda {

/// trusted_kernels.cu, which the build makes part of the library.
std::string_view trusted_kernels_text();

/// CUDA C++ of every trusted kernel.
const std::string& trusted_kernels_source();
/// Their names.
const std::vector<std::string>& trusted_kernel_names();

}  // namespace kevo::cuda
