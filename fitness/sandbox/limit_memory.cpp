#include "fitness/sandbox/limit_memory.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

namespace kevo {
namespace {

constexpr std::uint64_t page = 4096;

/// Whether one page more can be mapped while the address space is capped at `bytes`.
bool page_fits_below(std::uint64_t bytes, rlim_t hard) {
  const rlimit limit{bytes, hard};
  if (::setrlimit(RLIMIT_AS, &limit) != 0)
    throw std::runtime_error(std::string("cannot limit the memory of the worker: ") + std::strerror(errno));
  void* tried = ::mmap(nullptr, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (tried == MAP_FAILED) return false;
  ::munmap(tried, page);
  return true;
}

}  // namespace

void limit_further_memory(std::uint64_t bytes) {
  // proc(5): size, resident, shared, text, lib, data and stack; all in pages. Not by streams: in a library of
  // Python's they would be those of another C++ library.
  unsigned long long pages[6] = {};
  int fields = 0;
  if (std::FILE* statm = std::fopen("/proc/self/statm", "r")) {
    fields = std::fscanf(statm, "%llu %llu %llu %llu %llu %llu", &pages[0], &pages[1], &pages[2], &pages[3],
                         &pages[4], &pages[5]);
    std::fclose(statm);
  }
  if (fields != 6)
    throw std::runtime_error("cannot limit the memory of the worker: cannot read /proc/self/statm");
  const std::uint64_t most = pages[5] * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) + bytes;
  const rlimit limit{most, most};
  if (::setrlimit(RLIMIT_DATA, &limit) != 0)
    throw std::runtime_error(std::string("cannot limit the memory of the worker: ") + std::strerror(errno));
}

void limit_further_addresses(std::uint64_t bytes) {
  rlimit before{};
  if (::getrlimit(RLIMIT_AS, &before) != 0)
    throw std::runtime_error(std::string("cannot limit the memory of the worker: ") + std::strerror(errno));
  // The kernel compares pages mapped so far with this limit, so that the smallest limit that lets one page
  // more through tells how many there are.
  std::uint64_t too_small = 0;
  std::uint64_t enough = std::uint64_t{1} << 47U;
  if (before.rlim_max != RLIM_INFINITY && before.rlim_max < enough) enough = before.rlim_max;
  while (enough - too_small > page) {
    const std::uint64_t middle = (too_small + (enough - too_small) / 2) / page * page;
    if (middle == too_small) break;
    (page_fits_below(middle, before.rlim_max) ? enough : too_small) = middle;
  }
  std::uint64_t most = enough + bytes;
  if (before.rlim_max != RLIM_INFINITY && before.rlim_max < most) most = before.rlim_max;
  const rlimit limit{most, most};
  if (::setrlimit(RLIMIT_AS, &limit) != 0)
    throw std::runtime_error(std::string("cannot limit the memory of the worker: ") + std::strerror(errno));
}

std::optional<std::uint64_t> private_memory_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_DATA, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return limit.rlim_cur;
}

}  // namespace kevo
