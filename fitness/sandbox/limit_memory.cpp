#include "fitness/sandbox/limit_memory.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string>
#include <sys/resource.h>
#include <unistd.h>

namespace kevo {

void limit_further_memory(std::uint64_t bytes) {
  // proc(5): size, resident, shared, text, lib, data and stack; all in pages.
  std::uint64_t pages[6] = {};
  std::ifstream statm("/proc/self/statm");
  for (auto& field : pages) statm >> field;
  if (!statm) throw std::runtime_error("cannot limit the worker's memory: /proc/self/statm");
  const std::uint64_t most = pages[5] * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) + bytes;
  const rlimit limit{most, most};
  if (::setrlimit(RLIMIT_DATA, &limit) != 0)
    throw std::runtime_error(std::string("cannot limit the worker's memory: ") + std::strerror(errno));
}

}  // namespace kevo
