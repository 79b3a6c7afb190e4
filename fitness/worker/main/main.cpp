// kevo-worker-cpu: runs one candidate in the sandbox. The first process forks a worker whenever it is asked
// (orders.hpp) and never loads the candidate. A worker shares a control page and an arena with the controller
// and nothing else; what it says is believed by nobody. Usage: kevo-worker-cpu OBJECT THREADS CPUS,
// descriptor 3; CPUS is a list such as 2,3, or "any".

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <exception>
#include <linux/futex.h>
#include <optional>
#include <sched.h>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fitness/sandbox/limit_memory.hpp"
#include "fitness/sandbox/lock_down.hpp"
#include "fitness/worker/main/interposed.hpp"
#include "fitness/worker/main/orders.hpp"
#include "fitness/worker/main/scatter.hpp"
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
  void* data = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, descriptor, 0);
  if (data == MAP_FAILED) return {};
  return {static_cast<std::byte*>(data), size};
}

// Before any page is touched, so that memory is near those processors. Threads inherit it.
void bind_to(const char* list) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  for (const char* at = list; *at >= '0' && *at <= '9';) {
    char* end = nullptr;
    const unsigned long cpu = std::strtoul(at, &end, 10);
    if (cpu < CPU_SETSIZE) CPU_SET(cpu, &cpus);
    at = *end == ',' ? end + 1 : end;
  }
  if (CPU_COUNT(&cpus) > 0) ::sched_setaffinity(0, sizeof cpus, &cpus);
}

// Page faults belong before the clock. The kernel need not have mapped all pages at once.
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

// Waits for a word of the controller that is not `known`: looks for it for as long as the controller says,
// and then sleeps until the bell is rung. A process that sleeps takes no processor time, so that what it
// costs between two calls is little else than the calls.
void wait_for_word(kevo::control_page& page, std::uint64_t ping, std::uint64_t go) {
  const auto nothing = [&] {
    return page.ping.load(std::memory_order_acquire) == ping && page.go.load(std::memory_order_acquire) == go;
  };
  timespec begin = {};
  ::clock_gettime(CLOCK_MONOTONIC, &begin);
  for (unsigned looks = 0;; ++looks) {
    if (!nothing()) return;
    kevo::spin_pause();
    if (looks % 64 != 0) continue;
    const long limit = page.look_ns.load(std::memory_order_relaxed);
    if (limit == 0) break;
    timespec now = {};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    if (1'000'000'000L * (now.tv_sec - begin.tv_sec) + now.tv_nsec - begin.tv_nsec > limit) break;
  }
  page.asleep.store(1, std::memory_order_seq_cst);
  for (;;) {
    const std::uint32_t bell = page.bell.load(std::memory_order_seq_cst);
    if (!nothing()) break;
    ::syscall(SYS_futex, &page.bell, FUTEX_WAIT, bell, nullptr, nullptr, 0);
  }
  page.asleep.store(0, std::memory_order_relaxed);
}

// The controller may sleep in a futex on a word of the page.
template <class Word>
void wake_controller(const std::atomic<Word>& word) {
  ::syscall(SYS_futex, &word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

[[noreturn]] void serve(kevo::control_page& page, const region& arena, kevo::entry_function entry,
                        bool threads) {
  void* pointers[kevo::most_pointers];
  std::uint64_t ping = 0;
  for (std::uint64_t next = 1;;) {
    if (page.go.load(std::memory_order_acquire) != next) {
      const std::uint64_t asked = page.ping.load(std::memory_order_acquire);
      if (asked == ping) {
        wait_for_word(page, ping, next - 1);
      } else {
        page.pong.store(ping = asked, std::memory_order_release);
      }
      continue;
    }
    page.pong.store(ping = page.ping.load(std::memory_order_relaxed), std::memory_order_release);
    const auto& call = page.arguments;
    for (std::uint32_t i = 0; i < call.pointers; ++i) pointers[i] = arena.data + call.offsets[i];
    entry(pointers, call.axes.data(), call.scalars.data());
    finish_stores();
    page.done.store(next++, std::memory_order_release);
    if (threads) wake_controller(page.done);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bool error_output = argc == 5 && std::strcmp(argv[4], kevo::error_output_argument) == 0;
  if (argc != 4 && !error_output) {
    std::fputs("usage: kevo-worker-cpu OBJECT THREADS CPUS [error-output] (internal; started by kevo)\n",
               stderr);
    return 2;
  }
  const int threads = std::atoi(argv[2]);
  std::optional<kevo::prepared_lock_down> filter;
  std::string no_filter;
  try {
    filter.emplace(threads, error_output);
  } catch (const std::exception& failure) {
    no_filter = failure.what();
  }
  kevo::fill_holes();
  const auto order = kevo::next_order();  // returns in a process of its own

  bind_to(argv[3]);
  kevo::scatter_memory();
  const region control = map_descriptor(order.control);
  const region arena = map_descriptor(order.arena);
  if (control.size < sizeof(kevo::control_page) || arena.data == nullptr) {
    std::fputs("kevo-worker-cpu: cannot map the shared memory\n", stderr);
    return 2;
  }
  ::close(order.control);
  ::close(order.arena);
  auto& page = *reinterpret_cast<kevo::control_page*>(control.data);
  touch_pages(arena);
  kevo::interpose(page);
  if (!filter) give_up(page, kevo::worker_claim::lock_down_failed, no_filter.c_str());
  try {
    // Private memory is capped from outside; shared memory, and what is made read-only again, by this alone.
    if (const auto memory = kevo::private_memory_limit())
      kevo::limit_further_addresses(*memory + spare_addresses(threads));
    filter->set();  // before loading: constructors of the candidate run there
  } catch (const std::exception& failure) {
    give_up(page, kevo::worker_claim::lock_down_failed, failure.what());
  }
  void* object = ::dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (object == nullptr) give_up(page, kevo::worker_claim::load_failed, ::dlerror());
  const auto entry = reinterpret_cast<kevo::entry_function>(::dlsym(object, kevo::entry_name));
  if (entry == nullptr) give_up(page, kevo::worker_claim::load_failed, ::dlerror());
  page.claim.store(static_cast<std::uint32_t>(kevo::worker_claim::ready), std::memory_order_release);
  wake_controller(page.claim);
  kevo::on_scattered_stack([&] { serve(page, arena, entry, threads > 1); });
}
