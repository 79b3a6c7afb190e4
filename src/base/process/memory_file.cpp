#include "src/base/process/memory_file.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

#include <kevo/error.hpp>

namespace kevo::detail {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw error(error_code::environment, what + ": " + std::strerror(errno));
}

}  // namespace

descriptor memory_file(const char* name, std::string_view content) {
  descriptor file(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file) fail("cannot create a memory file");
  for (std::size_t at = 0; at < content.size();) {
    const ssize_t written = ::write(file.get(), content.data() + at, content.size() - at);
    if (written < 0) fail("cannot write to a memory file");
    at += static_cast<std::size_t>(written);
  }
  ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
  ::lseek(file.get(), 0, SEEK_SET);
  return file;
}

}  // namespace kevo::detail
