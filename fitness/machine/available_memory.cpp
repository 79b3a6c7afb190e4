#include "fitness/machine/available_memory.hpp"

#include <algorithm>
#include <fstream>
#include <string>

namespace kevo {

std::optional<std::uint64_t> available_memory() {
  std::optional<std::uint64_t> available;
  std::uint64_t swap = 0;
  std::ifstream lines("/proc/meminfo");
  std::string name;
  std::string unit;
  for (std::uint64_t kib = 0; lines >> name >> kib && std::getline(lines, unit);) {
    if (name == "MemAvailable:") available = kib * 1024;
    if (name == "SwapFree:") swap = kib * 1024;
  }
  if (!available) return std::nullopt;
  std::uint64_t limit = 0;
  // "max" where there is none, which reads as no number.
  if (std::ifstream group("/sys/fs/cgroup/memory.max"); group >> limit)
    return std::min(*available + swap, limit);
  return *available + swap;
}

}  // namespace kevo
