#pragma once
// How much more memory this process may have than it has. Linked into the workers that run candidates' host
// code.

#include <cstdint>
#include <optional>

namespace kevo {

/// Caps the private writable memory of this process (heap, anonymous mappings, whether touched or not) at
/// what it has now plus `bytes`: beyond it mmap, brk and mprotect answer ENOMEM. For processes whose address
/// space cannot be capped, since a driver reserves much of it. Not counted: memory that is shared or belongs
/// to a device. Cannot be undone by a process without privileges.
/// @throws std::runtime_error if /proc cannot be read or the kernel refuses
void limit_further_memory(std::uint64_t bytes);

/// Caps the address space of this process at what it has now plus `bytes`: beyond it mmap, brk, mremap and
/// stacks answer ENOMEM, whatever the memory is called (private, shared, written and then made read-only).
/// What it has now is found by trying, since a sandbox has no /proc. Cannot be undone by a process without
/// privileges.
/// @throws std::runtime_error if the kernel refuses
void limit_further_addresses(std::uint64_t bytes);

/// The private memory that this process may have by its limits (RLIMIT_DATA); nothing if it is unlimited.
std::optional<std::uint64_t> private_memory_limit();

}  // namespace kevo
