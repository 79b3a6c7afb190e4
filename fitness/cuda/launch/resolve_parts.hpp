#pragma once
// The parts of a plan, each worked out from its line; for resolve.cpp. Everything throws kevo::error (input)
// for what a candidate may not do.

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "fitness/cuda/launch/environment.hpp"

namespace kevo::cuda::detail {

/// A buffer that lines may name.
struct known_buffer {
  std::uint32_t index = 0;
  std::uint64_t elements = 0;
  dtype_info type;
  bool writable = false;  ///< outputs and workspaces
  std::uint64_t bytes() const { return elements * type.size; }
};

/// What the names of arguments mean on one workload. Borrows.
struct scope {
  const environment* names = nullptr;
  const launch_signature* workload = nullptr;
  std::map<std::string, known_buffer> buffers;
  std::map<std::string, std::uint32_t> tensor_maps;
  std::map<std::string, std::string> absent;  ///< declared, but not on this workload: what it is

  /// The buffer of that name. @throws kevo::error (input) with the nearest name
  const known_buffer& buffer(const placed_name& name) const;
  /// Bytes from the buffer's start. @throws kevo::error (input) beyond its end
  std::uint64_t byte_offset(const known_buffer& b, const std::optional<expression>& elements,
                            const loop_index* index, const error_place& place) const;
};

/// One argument, as wide as the kernel's parameter. `number` counts from 1, for messages.
launch_argument resolve_argument(const argument_line& line, const kernel_parameter& parameter,
                                 std::size_t number, const scope& known, const loop_index* index);

/// The arguments of cuTensorMapEncodeTiled, checked against what it documents.
tensor_map resolve_tensor_map(const tensor_map_line& line, const statement_line& statement,
                              const scope& known);

/// Grid, block, shared memory and attributes, checked against device and kernel.
kernel_launch resolve_launch(const launch_line& line, const statement_line& statement, std::uint32_t kernel,
                             const compiled_kernel& compiled, const device_facts& facts, const scope& known,
                             const loop_index* index);

/// The grid of a line. @throws kevo::error (input)
std::array<std::uint32_t, 3> grid_of(const launch_line& line, const statement_line& statement,
                                     const environment& names, const loop_index* index);

/// The threads of a line's block, and its dynamic shared memory. @throws kevo::error (input)
struct block_shape {
  std::array<std::uint32_t, 3> block{1, 1, 1};
  std::uint32_t threads = 1;
  std::uint32_t dynamic_shared_bytes = 0;
};
block_shape block_of(const launch_line& line, const statement_line& statement, const environment& names,
                     const loop_index* index, const device_facts& facts);

}  // namespace kevo::cuda::detail
