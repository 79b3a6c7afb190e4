#include "fitness/cuda/worker/driver_libraries.hpp"

#include <filesystem>
#include <system_error>

namespace kevo::cuda {

std::vector<std::string> compilers_of_driver(const std::vector<std::string>& libraries) {
  std::vector<std::string> found;
  for (const auto& library : libraries) {
    const std::filesystem::path file(library);
    if (file.filename() != "libcuda.so.1") continue;
    for (const char* name :
         {"libnvidia-ptxjitcompiler.so.1", "libnvidia-nvvm.so.4", "libnvidia-gpucomp.so"}) {
      const auto beside = file.parent_path() / name;
      std::error_code code;
      if (std::filesystem::exists(beside, code)) found.push_back(beside.string());
    }
  }
  return found;
}

}  // namespace kevo::cuda
