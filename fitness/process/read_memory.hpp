#pragma once
// Reading the memory of another process.

#include <cstddef>
#include <cstdint>
#include <span>
#include <sys/types.h>

namespace kevo {

/// A piece of another process's memory.
struct memory_piece {
  std::uint64_t address = 0;
  std::size_t bytes = 0;
};

/// Copies pieces, one after the other, to `into`, which has room for all of them. The process may go on
/// meanwhile. @return false if a piece is no memory of the process, or the process has ended
bool read_memory(pid_t process, std::span<const memory_piece> pieces, std::byte* into) noexcept;

/// Whether the kernel lets this process read the memory of that one. A Yama setting (kernel.yama.ptrace_scope
/// above 1) or the system call filter of a container may forbid it.
bool may_read_memory(pid_t process) noexcept;

}  // namespace kevo
