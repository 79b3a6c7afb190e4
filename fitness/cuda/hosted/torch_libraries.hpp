#pragma once
// PyTorch's C++ libraries, with which a trusted baseline may be linked: FlashAttention's kernels are in them.

#include <string>
#include <vector>

namespace kevo::cuda {

/// Whether `library`, without "lib" and extension, is one of PyTorch's: "torch_cuda", "torch_cpu", "c10"...
bool is_of_torch(const std::string& library);

/// Where they are.
struct torch_libraries {
  /// First the folder of PyTorch's own libraries, then those of the Python packages that it needs
  /// (nvidia/*/lib), canonical. Empty if `missing` says why.
  std::vector<std::string> folders;
  std::string missing;  ///< what was not found, and where it was looked for
};

/// Looks for the libraries `wanted` in the PyTorch of the Python that runs PyTorch programs
/// (torch::find_torch), which is asked and takes some 100 ms.
/// @param python a Python or a folder of packages; empty: KEVO_PYTHON and the usual places
/// @param contained a sandbox must be able to read them
torch_libraries find_torch_libraries(const std::vector<std::string>& wanted, const std::string& python,
                                     bool contained);

}  // namespace kevo::cuda
