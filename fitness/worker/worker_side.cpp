#include "fitness/worker/worker_side.hpp"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace kevo::worker_side {
namespace {

// Weakly ordered (non-temporal) stores of an honest kernel must be visible before "done" is.
void finish_stores() {
#if defined(__x86_64__)
  __builtin_ia32_mfence();
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

constexpr unsigned looks_without_clock = 128;

// Waits for a word of the controller that is not `known`: looks for it for as long as the controller says,
// and then sleeps until the bell is rung. A process that sleeps takes no processor time, so that what it
// costs between two calls is little else than the calls.
void wait_for_word(control_page& page, std::uint64_t ping, std::uint64_t go) {
  const auto nothing = [&] {
    return page.ping.load(std::memory_order_acquire) == ping && page.go.load(std::memory_order_acquire) == go;
  };
  timespec begin = {};
  for (unsigned looks = 1;; ++looks) {
    if (!nothing()) return;
    spin_pause();
    // Inputs come right after an answer. Reading a clock takes up to 0.15 us (on virtual machines), which a
    // program that served its calls itself would save.
    if (looks % looks_without_clock != 0) continue;
    const long limit = page.look_ns.load(std::memory_order_relaxed);
    if (limit == 0) break;
    timespec now = {};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    if (looks == looks_without_clock) begin = now;
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

}  // namespace

region map_descriptor(int descriptor, bool writable, bool populate) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0 || status.st_size <= 0) return {};
  const auto size = static_cast<std::size_t>(status.st_size);
  const int rights = PROT_READ | (writable ? PROT_WRITE : 0);
  void* data = ::mmap(nullptr, size, rights, MAP_SHARED | (populate ? MAP_POPULATE : 0), descriptor, 0);
  if (data == MAP_FAILED) return {};
  return {static_cast<std::byte*>(data), size};
}

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

void touch_pages(const region& memory) {
  for (std::size_t i = 0; i < memory.size; i += 4096)
    __atomic_fetch_or(reinterpret_cast<unsigned char*>(memory.data + i), 0, __ATOMIC_RELAXED);
}

void read_pages(const region& memory, std::uint64_t begin, std::uint64_t bytes) {
  if (begin > memory.size || bytes > memory.size - begin) return;
  for (std::uint64_t i = 0; i < bytes; i += 4096)
    static_cast<void>(*static_cast<const volatile std::byte*>(memory.data + begin + i));
}

void give_up(control_page& page, worker_claim claim, const char* message) {
  std::strncpy(page.message, message == nullptr ? "" : message, sizeof page.message - 1);
  page.claim.store(static_cast<std::uint32_t>(claim), std::memory_order_release);
  ::_exit(3);
}

std::uint64_t spare_addresses(int threads) {
  constexpr std::uint64_t megabyte = std::uint64_t{1} << 20U;
  return 256 * megabyte + 160 * megabyte * static_cast<std::uint64_t>(threads > 1 ? threads : 0);
}

void calls::answer(std::uint64_t asked) {
  if (prepare_ && asked != ping_) prepare_(page_->arguments);
  page_->pong.store(ping_ = asked, std::memory_order_release);
}

const call_arguments& calls::next() {
  for (;;) {
    if (page_->go.load(std::memory_order_acquire) == next_) break;
    const std::uint64_t asked = page_->ping.load(std::memory_order_acquire);
    if (asked == ping_) {
      wait_for_word(*page_, ping_, next_ - 1);
    } else {
      answer(asked);
    }
  }
  answer(page_->ping.load(std::memory_order_relaxed));
  return page_->arguments;
}

void calls::done() {
  finish_stores();
  page_->done.store(next_++, std::memory_order_release);
  if (threads_) wake_controller(page_->done);
}

}  // namespace kevo::worker_side
