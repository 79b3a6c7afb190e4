#pragma once
// How much more memory this process may have than it has. Linked into kevo-worker-hosted.

#include <cstdint>

namespace kevo {

/// Caps the private writable memory of this process (heap, anonymous mappings, whether touched or not) at
/// what it has now plus `bytes`: beyond it mmap, brk and mprotect answer ENOMEM. For processes whose address
/// space cannot be capped, since a driver reserves much of it. Not counted: memory that is shared or belongs
/// to a device. Cannot be undone by a process without privileges.
/// @throws std::runtime_error if /proc cannot be read or the kernel refuses
void limit_further_memory(std::uint64_t bytes);

}  // namespace kevo
