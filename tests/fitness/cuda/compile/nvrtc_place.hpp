#pragma once
// Where the tests find NVRTC.

#include <string>

#include <kevo/error.hpp>

#include "fitness/cuda/compile/toolchain.hpp"

/// A value for the setting `cuda`: empty for NVRTC of this machine or of the environment, the path of the
/// build folder that `scripts/setup.sh --tests` fetches it into, or "none".
inline std::string nvrtc_place() {
  for (const auto& place : {std::string(), std::string(KEVO_SOURCE_DIR) + "/build/nvrtc"}) {
    try {
      kevo::cuda::find_toolchain(place);
      return place;
    } catch (const kevo::error&) {
    }
  }
  return "none";
}
