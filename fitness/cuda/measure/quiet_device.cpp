#include "fitness/cuda/measure/quiet_device.hpp"

#include <chrono>
#include <thread>

#include <kevo/error.hpp>

namespace kevo::cuda {

std::string lock_name(const device_description& device) {
  return "gpu-" + device.uuid;
}

std::string await_quiet_device(const std::function<device_users()>& users, foreign_processes policy,
                               double patience_s, const std::stop_token& stop) {
  using clock = std::chrono::steady_clock;
  const auto deadline = clock::now() + std::chrono::duration<double>(patience_s);
  for (;;) {
    const auto now = users();
    if (!now.told) return "cannot be detected: " + now.untold;
    const std::string limits = now.untold.empty() ? "" : "; " + now.untold;
    if (now.foreign.empty()) return "none" + limits;
    if (policy == foreign_processes::note) return describe(now.foreign) + limits;
    if (clock::now() >= deadline) {
      throw error(error_code::environment,
                  "another process uses the GPU and would disturb the timing: " + describe(now.foreign), {},
                  "end it, choose another GPU with fitness.device, or set fitness.foreign_processes=note to "
                  "measure anyway");
    }
    if (stop.stop_requested())
      throw error(error_code::interrupted, "stopped while waiting for another process to leave the GPU");
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

}  // namespace kevo::cuda
