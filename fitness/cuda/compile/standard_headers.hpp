#pragma once
// Headers that device code expects and NVRTC has not: fixed-width integers, CUtensorMap, and names of C
// headers whose functions NVRTC knows without them.

#include <vector>

#include "fitness/cuda/compile/message.hpp"

namespace kevo::cuda {

/// stdint.h, cuda.h, float.h, math.h, ...: as sources for a compile job.
std::vector<source_text> standard_headers();

}  // namespace kevo::cuda
