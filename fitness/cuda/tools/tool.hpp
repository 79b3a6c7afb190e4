#pragma once
// NVIDIA's checkers and profilers: where they are, and one of them over one call of a program, in the
// sandbox.

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "fitness/cuda/device/protocol.hpp"
#include "fitness/process/process.hpp"

namespace kevo::cuda {

/// The path of `compute-sanitizer` or `ncu`: where the environment says (KEVO_COMPUTE_SANITIZER, KEVO_NCU),
/// else in CUDA_HOME, CUDA_PATH, /usr/local/cuda, along PATH, in /opt/nvidia/nsight-compute. Empty if it is
/// nowhere.
std::string find_device_tool(const std::string& name);

/// What a tool left.
struct tool_report {
  exit_report process;
  std::string log;  ///< what it wrote to its own log, up to 1 MiB
};

/// Runs `program OPTIONS --log-file LOG kevo-replay-cuda ...` for one call. @param call encode(replay)
/// @throws kevo::error (environment) if it cannot be started; (interrupted) on `stop`
tool_report run_device_tool(const std::string& program, std::vector<std::string> options,
                            const std::string& call, const device_description& device, sandbox_mode sandbox,
                            double wall_s, const std::stop_token& stop);

}  // namespace kevo::cuda
