#pragma once
// What launch lines may know of a device, and what a launch must keep within.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "fitness/cuda/wire/module.hpp"

namespace kevo::cuda {

/// Blocks of a kernel that one multiprocessor holds at the same time, for a block of `threads` threads and
/// `dynamic_shared_bytes`; 0 if it does not fit; nothing if it cannot be known.
using occupancy_query = std::function<std::optional<std::int64_t>(
    const compiled_kernel& kernel, std::uint32_t threads, std::uint32_t dynamic_shared_bytes)>;

/// Limits of a device (cuDeviceGetAttribute). The defaults are Hopper's.
struct device_facts {
  std::string architecture = "sm_90a";
  std::int64_t sms = 132;  ///< multiprocessors
  std::uint32_t threads_per_block = 1024;
  std::uint32_t threads_per_sm = 2048;
  std::uint32_t blocks_per_sm = 32;
  std::uint32_t registers_per_sm = 65536;
  std::uint32_t shared_per_sm = 233472;            ///< [bytes]
  std::uint32_t shared_per_block = 232448;         ///< [bytes] the largest that can be opted into
  std::uint32_t reserved_shared_per_block = 1024;  ///< [bytes]
  std::uint32_t cluster_blocks = 16;               ///< the largest cluster, non-portable sizes included
  std::uint64_t workspace_bytes = std::uint64_t{4} << 30U;  ///< cap on all workspaces of a call together
  occupancy_query occupancy;  ///< the driver's answer; empty: `estimated_occupancy`
};

/// The facts of an architecture such as "sm_80" or "sm_90a" where no device can be asked; the number of
/// multiprocessors is that of its largest common product. Nothing for an architecture that kevo does not
/// know.
std::optional<device_facts> known_device(std::string_view architecture);

/// Blocks per multiprocessor from registers, shared memory, threads and block slots, by the allocation rules
/// of compute capability 7 to 12 (CUDA C++ programming guide, technical specifications: registers in units of
/// 256 a warp, shared memory in units of 128 bytes). The driver's word is better.
std::int64_t estimated_occupancy(const device_facts& facts, const compiled_kernel& kernel,
                                 std::uint32_t threads, std::uint32_t dynamic_shared_bytes);

/// `facts.occupancy` where it answers, else the estimate.
std::int64_t blocks_per_sm(const device_facts& facts, const compiled_kernel& kernel, std::uint32_t threads,
                           std::uint32_t dynamic_shared_bytes);

}  // namespace kevo::cuda
