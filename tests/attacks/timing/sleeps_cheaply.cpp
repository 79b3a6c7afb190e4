// task: histogram
// verdict: valid|rejected|suspect|crashed|timed_out
// twin: honest/plain_histogram.cpp
// because: Serves calls by its own loop, which sleeps and wakes up with less work than that of a trusted worker,
//   whose cost is taken off.
#include <cerrno>
#include <cstdint>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

// The worker's control page as its source declares it.
struct control_page {
  alignas(64) volatile uint64_t ping;
  alignas(64) volatile uint64_t go;
  volatile uint32_t bell;
  volatile uint32_t look_ns;
  alignas(64) struct {
    uint64_t offsets[48];
    int64_t axes[32];
    uint64_t scalars[32];
    uint32_t pointers;
  } arguments;
  alignas(64) volatile uint64_t pong;
  alignas(64) volatile uint64_t done;
  volatile uint32_t asleep;
  alignas(64) volatile uint32_t claim;
};

control_page* page = nullptr;

// Whether a page may be read; timing/slow_pong.cpp says how.
bool is_memory(uintptr_t place) {
  static uintptr_t known[64];
  static int count = 0;
  for (int i = 0; i < count; ++i) {
    if (known[i] == place) return true;
  }
  if (::syscall(SYS_rt_sigprocmask, -1, place, 0, 8) != -1 || errno != EINVAL) return false;
  if (count < 64) known[count++] = place;
  return true;
}

// The caller keeps the page's address in a register; spilled to the stack it can be found by what it points
// to.
__attribute__((noinline)) control_page* find_page() {
  __builtin_unwind_init();
  const auto frame = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  for (int i = -16; i < 256; ++i) {
    const uintptr_t place = frame + static_cast<uintptr_t>(i) * sizeof(uintptr_t);
    if (place % 4096 == 0 && !is_memory(place)) break;  // the end of the stack
    const uintptr_t value = *reinterpret_cast<const uintptr_t*>(place);
    if (value < 0x7000'0000'0000 || value >= 0x7fff'0000'0000 || (value & 4095U) >= 2048) continue;
    if (!is_memory(value & ~uintptr_t{4095})) continue;
    auto* found = reinterpret_cast<control_page*>(value & ~uintptr_t{4095});
    if (found->go == 1 && found->done == 0) return found;
  }
  return nullptr;
}

void work(const int32_t* X, int32_t* counts, int64_t N) {
  for (int64_t b = 0; b < 256; ++b) counts[b] = 0;
  for (int64_t i = 0; i < N; ++i) ++counts[X[i]];
}

// The kernel is called without the C library.
inline void sleep_on(volatile uint32_t* word, uint32_t value) {
  long result = SYS_futex;
  register long timeout asm("r10") = 0;
  asm volatile("syscall" : "+a"(result) : "D"(word), "S"(FUTEX_WAIT), "d"(value), "r"(timeout) : "rcx", "r11", "memory");
}

}  // namespace

extern "C" void run(const int32_t* X, int32_t* counts, int64_t N) {
  page = find_page();
  work(X, counts, N);
  if (page == nullptr) return;
  const auto arena = reinterpret_cast<uintptr_t>(X) - page->arguments.offsets[0];
  page->asleep = 1;
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  for (uint64_t next = 2;; ++next) {
    uint32_t bell = page->bell;
    page->done = next - 1;
    while (page->go != next) {
      sleep_on(&page->bell, bell);
      bell = page->bell;
      if (page->go != next) page->pong = page->ping;
    }
    asm volatile("" : : : "memory");
    const auto& at = page->arguments;
    work(reinterpret_cast<const int32_t*>(arena + at.offsets[0]), reinterpret_cast<int32_t*>(arena + at.offsets[1]),
         at.axes[0]);
    page->pong = page->ping;
  }
}
