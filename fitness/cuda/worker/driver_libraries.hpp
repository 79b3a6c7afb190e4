#pragma once
// Files of the driver that processes in the sandbox need besides those that every context has open.

#include <string>
#include <vector>

namespace kevo::cuda {

/// The driver's compilers of PTX and of LTO code, which it loads by itself when somebody brings code for
/// other devices: vendors' libraries, and ncu for its own kernels. Those that lie beside libcuda.so.1.
/// @param libraries paths, libcuda.so.1 among them
std::vector<std::string> compilers_of_driver(const std::vector<std::string>& libraries);

}  // namespace kevo::cuda
