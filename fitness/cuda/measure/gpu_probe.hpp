#pragma once
// What there is for CUDA on this machine, found by trying it, and the ceilings of a device.

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "fitness/cuda/compile/cuda_compiler.hpp"
#include "fitness/cuda/device/client.hpp"

namespace kevo::cuda {

/// One part, and what is missing for it.
struct gpu_finding {
  std::string name;
  bool there = false;
  std::string detail;
  bool needed = true;  ///< false: candidates can be evaluated without it
};

/// Driver and device (by starting kevo-device), compiler, and a worker in the sandbox. Of the devices after
/// the first one, name, memory and processes of other programs. Never throws for what is missing.
std::vector<gpu_finding> probe_gpu();

/// Measures the ceilings of the first device and keeps them in `folder`; nothing where there is no GPU.
std::optional<device_ceilings> calibrate_gpu(const std::string& folder);

/// Ceilings of a device from `folder`, else measured and kept there. The trusted kernels must be loaded.
device_ceilings ceilings_of_device(device_client& device, const std::string& folder, bool again = false);

/// $XDG_CACHE_HOME/kevo or ~/.cache/kevo; empty if neither is known.
std::string user_cache_folder();

/// Compiles the trusted kernels. @throws kevo::error (environment)
compiled_module compile_trusted_kernels(cuda_compiler& compiler, const std::string& architecture,
                                        std::stop_token stop = {});

}  // namespace kevo::cuda
