#include "fitness/process/read_memory.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <sys/uio.h>

namespace kevo {
namespace {

constexpr std::size_t pieces_at_once = 512;                   // the kernel takes up to 1024
constexpr std::size_t bytes_at_once = std::size_t{1} << 30U;  // and less than 2 GiB

}  // namespace

bool read_memory(pid_t process, std::span<const memory_piece> pieces, std::byte* into) noexcept {
  std::array<iovec, pieces_at_once> remote{};
  std::size_t inside = 0;  // of the first piece that is left, what has been read
  while (!pieces.empty()) {
    std::size_t count = 0;
    std::size_t total = 0;
    std::size_t skip = inside;
    for (const auto& piece : pieces) {
      if (count == pieces_at_once || total == bytes_at_once) break;
      const std::size_t size = std::min(piece.bytes - skip, bytes_at_once - total);
      remote[count++] = {reinterpret_cast<void*>(piece.address + skip),
                         size};  // NOLINT(performance-no-int-to-ptr)
      total += size;
      skip = 0;
    }
    const iovec local = {into, total};
    if (::process_vm_readv(process, &local, 1, remote.data(), count, 0) != static_cast<ssize_t>(total))
      return false;
    into += total;
    for (std::size_t left = total + inside; !pieces.empty();) {
      inside = left;
      if (left < pieces.front().bytes) break;
      left -= pieces.front().bytes;
      inside = 0;
      pieces = pieces.subspan(1);
    }
  }
  return true;
}

bool may_read_memory(pid_t process) noexcept {
  std::byte byte{};
  const iovec local = {&byte, 1};
  const iovec remote = {nullptr, 1};
  // Nothing lies at address 0, which is looked at after the right to look.
  return ::process_vm_readv(process, &local, 1, &remote, 1, 0) == -1 && errno == EFAULT;
}

}  // namespace kevo
