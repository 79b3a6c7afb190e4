#pragma once
// The parts of the CUDA driver's binary interface that kevo uses, declared here so that nothing needs the
// toolkit to build. Names and layouts are those of the driver; tests compare them with cuda.h where it is
// there.

#include <cstddef>
#include <cstdint>

namespace kevo::cuda {

using driver_code = int;  ///< CUresult
using device_index = int;
using address = std::uint64_t;  ///< CUdeviceptr
using context = struct opaque_context*;
using module_handle = struct opaque_module*;
using function = struct opaque_function*;
using stream = struct opaque_stream*;
using event = struct opaque_event*;
using graph = struct opaque_graph*;
using graph_exec = struct opaque_graph_exec*;
using allocation = unsigned long long;  ///< CUmemGenericAllocationHandle

inline constexpr driver_code success = 0;
inline constexpr driver_code error_invalid_value = 1;
inline constexpr driver_code error_out_of_memory = 2;
inline constexpr driver_code error_not_ready = 600;
inline constexpr driver_code error_illegal_address = 700;
inline constexpr driver_code error_launch_out_of_resources = 701;
inline constexpr driver_code error_launch_timeout = 702;
inline constexpr driver_code error_launch_failed = 719;
inline constexpr driver_code error_system_not_ready = 802;
inline constexpr driver_code error_ecc_uncorrectable = 214;

/// CUdevice_attribute.
enum class device_attribute : int {
  max_threads_per_block = 1,
  max_shared_memory_per_block = 8,
  clock_rate = 13,  ///< [kHz]
  multiprocessors = 16,
  memory_clock_rate = 36,  ///< [kHz]
  memory_bus_width = 37,   ///< [bits]
  l2_cache_size = 38,      ///< [bytes]
  threads_per_multiprocessor = 39,
  compute_major = 75,
  compute_minor = 76,
  shared_memory_per_multiprocessor = 81,
  registers_per_multiprocessor = 82,
  shared_memory_per_block_optin = 97,
  blocks_per_multiprocessor = 106,
  persisting_l2_max = 108,  ///< [bytes]
};

/// CUfunction_attribute.
enum class function_attribute : int {
  max_threads_per_block = 0,
  shared_bytes = 1,
  const_bytes = 2,
  local_bytes = 3,
  registers = 4,
  max_dynamic_shared_bytes = 8,
  preferred_shared_carveout = 9,
  non_portable_cluster = 14,
};

/// CUlimit.
enum class limit : int { stack_size = 0, printf_fifo = 1, malloc_heap = 2, persisting_l2 = 6 };

inline constexpr int allocation_pinned = 1;
inline constexpr int location_device = 1;
inline constexpr int handle_posix_fd = 1;
inline constexpr int access_read = 1;
inline constexpr int access_read_write = 3;
inline constexpr unsigned stream_non_blocking = 1;
inline constexpr unsigned event_default = 0;
inline constexpr unsigned event_no_timing = 2;
inline constexpr unsigned event_record_external = 1;
inline constexpr int capture_relaxed = 2;

struct location {
  int type = 0;
  int id = 0;
};
/// CUmemAllocationProp.
struct allocation_properties {
  int type = 0;
  int handle_types = 0;
  cuda::location where;
  void* win32 = nullptr;
  struct {
    unsigned char compression = 0;
    unsigned char rdma = 0;
    unsigned short usage = 0;
    unsigned char reserved[4] = {};
  } flags;
};
/// CUmemAccessDesc.
struct access_description {
  cuda::location where;
  int flags = 0;
};
/// CUipcMemHandle.
struct ipc_handle {
  unsigned char bytes[64] = {};
};
inline constexpr unsigned ipc_lazy_peer_access = 1;
/// CUpointer_attribute.
inline constexpr int pointer_block = 7;  ///< a number of the allocation, of 64 bits

/// CUDA_MEMCPY2D.
struct copy_of_rows {
  std::size_t source_x = 0;  ///< [bytes]
  std::size_t source_y = 0;
  int source_type = 0;
  const void* source_host = nullptr;
  address source = 0;
  void* source_array = nullptr;
  std::size_t source_pitch = 0;
  std::size_t target_x = 0;
  std::size_t target_y = 0;
  int target_type = 0;
  void* target_host = nullptr;
  address target = 0;
  void* target_array = nullptr;
  std::size_t target_pitch = 0;
  std::size_t row_bytes = 0;
  std::size_t rows = 0;
};
inline constexpr int memory_of_device = 2;  ///< CUmemorytype
/// CUuuid.
struct uuid {
  unsigned char bytes[16] = {};
};

inline constexpr int launch_cooperative = 2;
inline constexpr int launch_cluster = 4;
inline constexpr int launch_programmatic = 6;
inline constexpr int launch_carveout = 14;
/// CUlaunchAttribute.
struct launch_attribute {
  int id = 0;
  char padding[4] = {};
  union {
    char raw[64];
    int cooperative;
    struct {
      unsigned x, y, z;
    } cluster;
    int programmatic;
    unsigned carveout;
  } value = {};
};
/// CUlaunchConfig.
struct launch_configuration {
  unsigned grid_x = 1, grid_y = 1, grid_z = 1;
  unsigned block_x = 1, block_y = 1, block_z = 1;
  unsigned shared_bytes = 0;
  cuda::stream stream = nullptr;
  launch_attribute* attributes = nullptr;
  unsigned attribute_count = 0;
};

/// CUtensorMap: opaque, 128-byte aligned, passed by value.
struct alignas(128) tensor_map_bytes {
  std::uint64_t words[16] = {};
};

}  // namespace kevo::cuda
