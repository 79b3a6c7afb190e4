#pragma once
// A resolved launch plan: what the trusted host does for one call of a candidate on one workload, with every
// number worked out. Plain data, without anything of CUDA's: whoever launches knows its types.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace kevo::cuda {

/// Memory that the candidate asks for. Its contents are undefined at the start of every call (poisoned).
struct workspace {
  std::string name;
  std::string dtype;
  std::uint64_t bytes = 0;
  std::uint64_t align = 256;  ///< [bytes] a power of two
  friend bool operator==(const workspace&, const workspace&) = default;
};

/// CUtensorMapDataType, by its numbers.
enum class tensor_map_dtype : std::uint32_t {
  uint8 = 0,
  uint16 = 1,
  uint32 = 2,
  int32 = 3,
  uint64 = 4,
  int64 = 5,
  float16 = 6,
  float32 = 7,
  float64 = 8,
  bfloat16 = 9,
};
/// CUtensorMapInterleave, by its numbers.
enum class tensor_map_interleave : std::uint32_t { none = 0, bytes_16 = 1, bytes_32 = 2 };
/// CUtensorMapSwizzle, by its numbers.
enum class tensor_map_swizzle : std::uint32_t { none = 0, bytes_32 = 1, bytes_64 = 2, bytes_128 = 3 };
/// CUtensorMapL2promotion, by its numbers.
enum class tensor_map_l2_promotion : std::uint32_t { none = 0, bytes_64 = 1, bytes_128 = 2, bytes_256 = 3 };
/// CUtensorMapFloatOOBfill, by its numbers.
enum class tensor_map_oob_fill : std::uint32_t { zero = 0, nan = 1 };

/// The arguments of cuTensorMapEncodeTiled, innermost dimension first. `dims`, `box` and `element_strides`
/// are of the same length, 1 to 5; `strides` has one less (the innermost is dense).
struct tensor_map {
  std::uint32_t buffer = 0;
  std::uint64_t byte_offset = 0;
  tensor_map_dtype dtype = tensor_map_dtype::float32;
  std::vector<std::uint64_t> dims;             ///< [elements]
  std::vector<std::uint64_t> strides;          ///< [bytes], of dimension 1 and up
  std::vector<std::uint32_t> box;              ///< [elements]
  std::vector<std::uint32_t> element_strides;  ///< [elements]
  tensor_map_interleave interleave = tensor_map_interleave::none;
  tensor_map_swizzle swizzle = tensor_map_swizzle::none;
  tensor_map_l2_promotion l2_promotion = tensor_map_l2_promotion::none;
  tensor_map_oob_fill oob_fill = tensor_map_oob_fill::zero;
  friend bool operator==(const tensor_map&, const tensor_map&) = default;
};

/// The address of a buffer plus an offset.
struct buffer_argument {
  std::uint32_t buffer = 0;
  std::uint64_t byte_offset = 0;
  friend bool operator==(const buffer_argument&, const buffer_argument&) = default;
};
/// A number: the first `size` bytes, in the memory order of the device (little endian).
struct scalar_argument {
  std::array<std::uint8_t, 16> bytes{};
  std::uint32_t size = 0;
  friend bool operator==(const scalar_argument&, const scalar_argument&) = default;
};
/// The 128 bytes of a tensor map, by value (`__grid_constant__ const CUtensorMap`).
struct tensor_map_argument {
  std::uint32_t index = 0;  ///< in plan::tensor_maps
  friend bool operator==(const tensor_map_argument&, const tensor_map_argument&) = default;
};
/// A null pointer.
struct null_argument {
  friend bool operator==(const null_argument&, const null_argument&) = default;
};
using launch_argument = std::variant<buffer_argument, scalar_argument, tensor_map_argument, null_argument>;

/// One kernel launch.
struct kernel_launch {
  std::uint32_t kernel = 0;  ///< in compiled_module::kernels
  std::array<std::uint32_t, 3> grid{1, 1, 1};
  std::array<std::uint32_t, 3> block{1, 1, 1};
  std::uint32_t dynamic_shared_bytes = 0;
  std::array<std::uint32_t, 3> cluster{0, 0, 0};  ///< all 0: no clusters
  bool cooperative = false;
  bool programmatic = false;              ///< may begin before the launch before it has ended (`pdl`)
  std::optional<std::uint32_t> carveout;  ///< preferred share of shared memory [percent], 0 to 100
  std::vector<launch_argument> arguments;
  friend bool operator==(const kernel_launch&, const kernel_launch&) = default;
};

/// Fills a part of a buffer with one byte.
struct memory_set {
  std::uint32_t buffer = 0;
  std::uint64_t byte_offset = 0;
  std::uint8_t value = 0;
  std::uint64_t bytes = 0;
  friend bool operator==(const memory_set&, const memory_set&) = default;
};

using plan_step = std::variant<kernel_launch, memory_set>;

/// All of one call. Buffers are numbered: the tensor inputs in the task's order, then the outputs, then
/// `workspaces`. Steps run one after the other on one stream.
struct plan {
  std::uint32_t inputs = 0;   ///< how many buffers are inputs
  std::uint32_t outputs = 0;  ///< how many are outputs
  std::vector<workspace> workspaces;
  std::vector<tensor_map> tensor_maps;
  std::vector<plan_step> steps;
  friend bool operator==(const plan&, const plan&) = default;
};

/// A plan as bytes, for another process of this machine. O(size).
std::string encode(const plan& p);

/// The inverse. @throws kevo::error (internal) unless `bytes` are exactly what `encode` makes
plan decode_plan(std::string_view bytes);

}  // namespace kevo::cuda
