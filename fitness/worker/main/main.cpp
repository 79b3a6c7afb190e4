// kevo-worker-cpu: runs one candidate in the sandbox. It shares a control page and an arena with the
// controller and nothing else; what it says is believed by nobody. Usage: kevo-worker-cpu OBJECT THREADS,
// descriptors 3 and 4.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <exception>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fitness/sandbox/limit_memory.hpp"
#include "fitness/sandbox/lock_down.hpp"
#include "fitness/worker/protocol.hpp"

namespace {

struct region {
  std::byte* data = nullptr;
  std::size_t size = 0;
};

region map_descriptor(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0 || status.st_size <= 0) return {};
  const auto size = static_cast<std::size_t>(status.st_size);
  void* data = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (data == MAP_FAILED) return {};
  return {static_cast<std::byte*>(data), size};
}

// Page faults belong before the clock.
void touch_pages(const region& memory) {
  for (std::size_t i = 0; i < memory.size; i += 4096) {
    __atomic_fetch_or(reinterpret_cast<unsigned char*>(memory.data + i), 0, __ATOMIC_RELAXED);
  }
}

[[noreturn]] void give_up(kevo::control_page& page, kevo::worker_claim claim, const char* message) {
  std::strncpy(page.message, message == nullptr ? "" : message, sizeof page.message - 1);
  page.claim.store(static_cast<std::uint32_t>(claim), std::memory_order_release);
  ::_exit(3);
}

// Weakly ordered (non-temporal) stores of an honest kernel must be visible before "done" is.
void finish_stores() {
#if defined(__x86_64__)
  __builtin_ia32_mfence();
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

// Addresses that are not memory: libraries, and of each thread a stack and the reserve of its heap.
std::uint64_t spare_addresses(int threads) {
  constexpr std::uint64_t megabyte = std::uint64_t{1} << 20U;
  return 256 * megabyte + 160 * megabyte * static_cast<std::uint64_t>(threads > 1 ? threads : 0);
}

// Sleeps while `go` is what it was. Nobody wakes it: the controller stops the process, writes the next call
// and lets it go on, whereupon the kernel looks at `go` again. So what the process costs the processor
// between two stops is the call and little else.
void sleep_until_changed(const std::atomic<std::uint64_t>& go, std::uint64_t value) {
  ::syscall(SYS_futex, &go, FUTEX_WAIT_PRIVATE, static_cast<std::uint32_t>(value), nullptr, nullptr, 0);
}

[[noreturn]] void serve(kevo::control_page& page, const region& arena, kevo::entry_function entry) {
  void* pointers[kevo::most_pointers];
  for (std::uint64_t next = 1;;) {
    const std::uint64_t go = page.go.load(std::memory_order_acquire);
    if (go != next) {
      sleep_until_changed(page.go, go);
      continue;
    }
    page.pong.store(page.ping.load(std::memory_order_relaxed), std::memory_order_release);
    const auto& call = page.arguments;
    for (std::uint32_t i = 0; i < call.pointers; ++i) pointers[i] = arena.data + call.offsets[i];
    entry(pointers, call.axes.data(), call.scalars.data());
    finish_stores();
    page.done.store(next++, std::memory_order_release);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bool error_output = argc == 4 && std::strcmp(argv[3], kevo::error_output_argument) == 0;
  if (argc != 3 && !error_output) {
    std::fputs("usage: kevo-worker-cpu OBJECT THREADS [error-output] (internal; started by kevo)\n", stderr);
    return 2;
  }
  const region control = map_descriptor(kevo::control_descriptor);
  const region arena = map_descriptor(kevo::arena_descriptor);
  if (control.size < sizeof(kevo::control_page) || arena.data == nullptr) {
    std::fputs("kevo-worker-cpu: cannot map the shared memory\n", stderr);
    return 2;
  }
  ::close(kevo::control_descriptor);
  ::close(kevo::arena_descriptor);
  auto& page = *reinterpret_cast<kevo::control_page*>(control.data);
  touch_pages(arena);
  try {
    const int threads = std::atoi(argv[2]);
    // Private memory is capped from outside; shared memory, and what is made read-only again, by this alone.
    if (const auto memory = kevo::private_memory_limit())
      kevo::limit_further_addresses(*memory + spare_addresses(threads));
    kevo::lock_down(threads, error_output);  // before loading: constructors of the candidate run there
  } catch (const std::exception& failure) {
    give_up(page, kevo::worker_claim::lock_down_failed, failure.what());
  }
  void* object = ::dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (object == nullptr) give_up(page, kevo::worker_claim::load_failed, ::dlerror());
  const auto entry = reinterpret_cast<kevo::entry_function>(::dlsym(object, kevo::entry_name));
  if (entry == nullptr) give_up(page, kevo::worker_claim::load_failed, ::dlerror());
  page.claim.store(static_cast<std::uint32_t>(kevo::worker_claim::ready), std::memory_order_release);
  serve(page, arena, entry);
}
