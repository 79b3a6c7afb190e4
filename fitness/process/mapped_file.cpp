#include "fitness/process/mapped_file.hpp"

#include <cerrno>
#include <cstring>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>

#include <kevo/error.hpp>

namespace kevo::detail {

mapped_file::mapped_file(int descriptor) {
  struct stat facts {};
  if (::fstat(descriptor, &facts) != 0)
    throw error(error_code::environment,
                std::string("cannot ask for the size of a file: ") + std::strerror(errno));
  if (facts.st_size == 0) return;  // an empty range cannot be mapped
  const auto size = static_cast<std::size_t>(facts.st_size);
  void* at = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor, 0);
  if (at == MAP_FAILED)
    throw error(error_code::environment, std::string("cannot map a file: ") + std::strerror(errno));
  bytes_ = {static_cast<const std::byte*>(at), size};
}

mapped_file::~mapped_file() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace kevo::detail
