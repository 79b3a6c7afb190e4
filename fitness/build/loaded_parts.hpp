#pragma once
// What a loader takes from a shared object: its segments. The rest of the file, names of functions among it,
// is for linkers and debuggers.

#include <cstdint>
#include <string_view>
#include <vector>

namespace kevo {

/// One segment.
struct loaded_part {
  std::uint32_t flags = 0;    ///< PF_R, PF_W, PF_X
  std::uint64_t address = 0;  ///< relative to where the object begins
  std::uint64_t size = 0;     ///< [bytes] in memory
  std::string_view bytes;     ///< that the file holds; zeros follow
  friend bool operator==(const loaded_part&, const loaded_part&) = default;
};

/// The segments of an ELF64 file that are loaded; of any other file all its bytes, as one.
std::vector<loaded_part> loaded_parts(std::string_view file);

/// [bytes] Of variables that each thread has for itself; 0 for any other file.
std::uint64_t thread_local_bytes(std::string_view file);

}  // namespace kevo
