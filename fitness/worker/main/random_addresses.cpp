#include "fitness/worker/main/random_addresses.hpp"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

namespace kevo {
namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t most_gap = std::size_t{256} << 20U;  // in the mappings: some entries of the page tables
constexpr std::size_t most_break = std::size_t{1} << 20U;  // in the heap: it counts as memory of the process

// Addresses without memory.
char* reserve(std::size_t bytes) {
  void* const at = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return at == MAP_FAILED ? nullptr : static_cast<char*>(at);
}

}  // namespace

void fill_holes() {
  // So much room is nowhere but below all that is mapped; the kernel looks for room from above.
  constexpr std::size_t larger_than_any = std::size_t{1} << 30U;
  constexpr int most_holes = 1000;
  char* const below = reserve(larger_than_any);
  if (below == nullptr) return;
  int holes = 0;
  for (std::size_t size = larger_than_any / 2; size >= page; size /= 2) {
    for (;;) {
      char* const at = reserve(size);
      if (at == nullptr) break;
      if (at < below || ++holes > most_holes) {
        ::munmap(at, size);
        break;
      }
    }
  }
  ::munmap(below, larger_than_any);
}

std::size_t random_offset(std::size_t most, std::size_t unit) {
  std::uint64_t drawn = 0;
  if (::getrandom(&drawn, sizeof drawn, 0) != static_cast<ssize_t>(sizeof drawn)) return 0;
  return static_cast<std::size_t>(drawn % (most / unit)) * unit;
}

void scatter_memory() {
  // What is mapped next lies below.
  reserve(random_offset(most_gap, page) + page);
  ::sbrk(static_cast<std::intptr_t>(random_offset(most_break, page)));
  // Never given back: a few chunks of each small size, which may be in the lists of the parent's heap.
  std::array<std::uint8_t, 64> counts{};
  if (::getrandom(counts.data(), counts.size(), 0) < 0) return;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    for (unsigned k = 0; k < counts[i] % 8U; ++k) {
      if (auto* const chunk = static_cast<volatile char*>(std::malloc(16 * i + 24))) *chunk = 0;
    }
  }
}

}  // namespace kevo
