#include "fitness/worker/main/random_addresses.hpp"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <dlfcn.h>
#include <link.h>
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

constexpr std::size_t most_copied = std::size_t{8}
                                    << 20U;  // of an object: copying takes a quarter of a ms per MB

int protection_of(std::uint32_t flags) {
  return ((flags & PF_R) != 0 ? PROT_READ : 0) | ((flags & PF_W) != 0 ? PROT_WRITE : 0) |
         ((flags & PF_X) != 0 ? PROT_EXEC : 0);
}

// A write to a private mapping of a file gives the process a copy of the page. Threads that a constructor has
// started may run this code and change this data meanwhile, so that it stays executable and no byte changes.
void copy_segment(std::uintptr_t base, const ElfW(Phdr) & segment) {
  const std::uintptr_t begin = (base + segment.p_vaddr) / page * page;
  const std::uintptr_t end = base + segment.p_vaddr + segment.p_filesz;
  auto* const from = reinterpret_cast<unsigned char*>(begin);
  const int usual = protection_of(segment.p_flags);
  if (::mprotect(from, end - begin, usual | PROT_READ | PROT_WRITE) != 0) return;
  for (std::size_t i = 0; i < end - begin; i += page) __atomic_fetch_or(from + i, 0, __ATOMIC_RELAXED);
  ::mprotect(from, end - begin, usual);
}

void protect_relocated(std::uintptr_t base, const ElfW(Phdr) & segment) {
  // Whole pages only, as the loader does.
  const std::uintptr_t begin = (base + segment.p_vaddr) / page * page;
  const std::uintptr_t end = (base + segment.p_vaddr + segment.p_memsz) / page * page;
  if (end > begin) ::mprotect(reinterpret_cast<void*>(begin), end - begin, PROT_READ);
}

int copy_pages(dl_phdr_info* info, std::size_t /*size*/, void* wanted) {
  if (info->dlpi_addr != *static_cast<const ElfW(Addr)*>(wanted)) return 0;
  std::size_t bytes = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i)
    bytes += info->dlpi_phdr[i].p_type == PT_LOAD ? info->dlpi_phdr[i].p_filesz : 0;
  if (bytes > most_copied) return 1;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    if (info->dlpi_phdr[i].p_type == PT_LOAD) copy_segment(info->dlpi_addr, info->dlpi_phdr[i]);
  }
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    if (info->dlpi_phdr[i].p_type == PT_GNU_RELRO) protect_relocated(info->dlpi_addr, info->dlpi_phdr[i]);
  }
  return 1;
}

}  // namespace

void take_own_pages(void* object) {
  link_map* found = nullptr;
  if (::dlinfo(object, RTLD_DI_LINKMAP, &found) != 0 || found == nullptr) return;
  ElfW(Addr) base = found->l_addr;
  ::dl_iterate_phdr(copy_pages, &base);
}

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
