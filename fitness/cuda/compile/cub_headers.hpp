#pragma once
// CUB without its device-wide algorithms, which are finished kernels: its primitives for a thread, a warp and
// a block are a language to write kernels in.

#include <string>

namespace kevo::cuda {

/// What stands in the place of <cub/cub.cuh>: the same header without what lies in cub/device. Names headers
/// of the toolkit's own CUB, those that it has.
std::string cub_without_device();

}  // namespace kevo::cuda
