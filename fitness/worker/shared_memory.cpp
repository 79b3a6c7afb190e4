#include "fitness/worker/shared_memory.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

#include <kevo/error.hpp>

namespace kevo {

shared_memory::shared_memory(const char* name, std::size_t size) : size_(size) {
  descriptor_ = ::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  const bool sized = descriptor_ >= 0 && ::ftruncate(descriptor_, static_cast<off_t>(size)) == 0 &&
                     // The worker must not be able to shrink it under the controller's feet (SIGBUS).
                     ::fcntl(descriptor_, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0;
  void* data = sized ? ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0) : MAP_FAILED;
  if (data == MAP_FAILED) {
    const std::string reason = std::strerror(errno);
    if (descriptor_ >= 0) ::close(descriptor_);
    throw error(error_code::environment,
                "cannot allocate " + std::to_string(size) + " bytes of shared memory: " + reason);
  }
  data_ = static_cast<std::byte*>(data);
}

shared_memory::~shared_memory() {
  if (data_ != nullptr) ::munmap(data_, size_);
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace kevo
