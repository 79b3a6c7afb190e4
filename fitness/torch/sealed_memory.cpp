#include "fitness/torch/sealed_memory.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <kevo/error.hpp>

namespace kevo::torch {
namespace {

[[noreturn]] void fail(const char* what) {
  throw error(error_code::environment, std::string(what) + ": " + std::strerror(errno));
}

}  // namespace

sealed_memory::sealed_memory() : file_(::memfd_create("kevo-sealed", MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
  if (!file_ || ::ftruncate(file_.get(), most_bytes) != 0) fail("cannot make a memory file");
}

void sealed_memory::seal() {
  if (::fcntl(file_.get(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    fail("cannot seal a memory file");
}

std::uint64_t sealed_memory::bytes() const {
  constexpr std::uint64_t block = 512;  // whatever the file system's own are
  struct stat facts = {};
  if (::fstat(file_.get(), &facts) != 0) fail("cannot read the size of a memory file");
  return block * static_cast<std::uint64_t>(facts.st_blocks);
}

std::string sealed_memory::text() const {
  constexpr std::int64_t most = std::int64_t{16} << 20U;
  std::int64_t length = 0;
  if (::pread(file_.get(), &length, sizeof length, 0) != sizeof length) fail("cannot read a memory file");
  if (length < 0 || length > most) throw error(error_code::environment, "a Python process wrote too much");
  std::string text(static_cast<std::size_t>(length), '\0');
  if (::pread(file_.get(), text.data(), text.size(), sizeof length) != static_cast<ssize_t>(text.size()))
    fail("cannot read a memory file");
  return text;
}

}  // namespace kevo::torch
