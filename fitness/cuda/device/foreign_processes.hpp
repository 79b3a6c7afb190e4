#pragma once
// Who else computes on the device. NVML (libnvidia-ml.so.1) is loaded when it is first asked; nothing of kevo
// links it.

#include <cstdint>
#include <functional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "fitness/cuda/device/protocol.hpp"

namespace kevo::cuda {

/// A process with a compute context, as NVML tells it.
struct listed_process {
  pid_t id = 0;
  std::uint64_t bytes = 0;  ///< of device memory; 0 if unknown
};

/// Which of `listed` are not kevo's. Pure but for `name_of`, which answers the name of a process, nothing for
/// one that has ended and "?" for one whose name is hidden.
///
/// NVML gives the numbers of the driver's own namespace; inside a container they may be others than ours, or
/// none. `self` has a context, so that a list without it is of no use: nothing is told then.
device_users foreign_among(const std::vector<listed_process>& listed, pid_t self,
                           const std::function<std::string(pid_t)>& name_of);

/// Who computes on the device with this uuid (32 hexadecimal digits). Never throws: what cannot be told is
/// said in `untold`. Some milliseconds the first time, then well under one.
device_users users_of_device(const std::string& uuid);

}  // namespace kevo::cuda
