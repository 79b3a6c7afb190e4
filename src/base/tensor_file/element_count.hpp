#pragma once
// Sizes of tensors in files, which may be anything.

#include <cstdint>
#include <optional>
#include <vector>

namespace kevo::detail {

/// The bytes of a tensor of this shape; nothing for a negative extent or where the product does not fit in 62
/// bits.
inline std::optional<std::uint64_t> bytes_of_shape(const std::vector<std::int64_t>& shape,
                                                   std::uint64_t element_size) {
  unsigned __int128 bytes = element_size;
  bool empty = false;
  for (const auto extent : shape) {
    if (extent < 0) return std::nullopt;
    if (extent == 0) empty = true;
    bytes *= static_cast<std::uint64_t>(extent == 0 ? 1 : extent);
    if (bytes > (std::uint64_t{1} << 62U)) return std::nullopt;
  }
  return empty ? 0 : static_cast<std::uint64_t>(bytes);
}

}  // namespace kevo::detail
