// task: matmul
// verdict: valid|rejected|suspect|crashed|timed_out
// twin: honest/clears_a_small_scratch.cpp
// because: Sleeps between calls as a trusted worker does, says at once that it is awake when it has been woken, and clears
//   what the next call needs, piece by piece, until the inputs of the call are there. Nothing of that is in the time
//   from the inputs to "done"; the processor time shows it.
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

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

// Whether a page may be read, by asking the kernel: it answers EFAULT where reading would end the process, and
// otherwise EINVAL, because there is no such way (-1) to change the mask of signals. It is asked once for each
// page, so that looking is as fast as without the question.
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
    if (value < 0x7000'0000'0000 || value >= 0x7fff'fc00'0000 || (value & 4095U) >= 2048) continue;
    if (!is_memory(value & ~uintptr_t{4095})) continue;
    auto* found = reinterpret_cast<control_page*>(value & ~uintptr_t{4095});
    if (found->go == 1 && found->done == 0) return found;
  }
  return nullptr;
}

constexpr int64_t parts = 1;
std::vector<float> scratch(1 << 18);  // zero between calls; its size is a power of two

// Makes room for every sum of every part.
void grow(int64_t sums) {
  while (static_cast<int64_t>(scratch.size()) < parts * sums) scratch.resize(2 * scratch.size());
}

// How much of the scratch memory is clear again.
std::size_t cleared = 0;

void clear_more(std::size_t count) {
  const std::size_t end = std::min(scratch.size(), cleared + count);
  std::fill(scratch.begin() + static_cast<std::ptrdiff_t>(cleared), scratch.begin() + static_cast<std::ptrdiff_t>(end), 0.0f);
  asm volatile("" : : : "memory");
  cleared = end;
}

void clear() {
  clear_more(scratch.size());
}

// Each sum begins with what the scratch memory holds.
// Never inlined, so that an exploit and its twin have the same instructions. Unrolled, because the end of a loop of
// 64 turns is predicted at some places of the code and not at others, which makes a fifth of the whole.
__attribute__((noinline)) void work(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  const int64_t rows = static_cast<int64_t>(scratch.size()) / parts;
  for (int64_t part = 0; part < parts; ++part) {
    for (int64_t i = 0; i < M; ++i) {
      for (int64_t j = 0; j < N; ++j) {
        float& sum = scratch[(i * N + j) * 61 % rows * parts + part];  // 61 is odd: no two share a place
#pragma GCC unroll 16
        for (int64_t k = 0; k < K; ++k) sum += A[i * K + k] * B[k * N + j];
        C[i * N + j] = sum;
      }
    }
  }
}


// Sleeps until the next call is near, as a trusted worker does.
void sleep_until_asked(uint64_t known, uint64_t next) {
  page->asleep = 1;
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  while (page->ping == known && page->go != next) {
    const uint32_t bell = page->bell;
    if (page->ping == known && page->go != next)
      ::syscall(SYS_futex, &page->bell, FUTEX_WAIT, bell, nullptr, nullptr, 0);
  }
  page->asleep = 0;
}

}  // namespace

extern "C" void run(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  page = find_page();
  grow(M * N);
  work(A, B, C, M, N, K);
  if (page == nullptr) return clear();
  const auto arena = reinterpret_cast<uintptr_t>(A) - page->arguments.offsets[0];
  for (uint64_t next = 2;; ++next) {
    const uint64_t known = page->ping;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    page->done = next - 1;
    sleep_until_asked(known, next);
    page->pong = page->ping;
    while (page->go != next && cleared < scratch.size()) clear_more(1024);
    while (page->go != next) {
      if (page->pong != page->ping) page->pong = page->ping;
    }
    asm volatile("" : : : "memory");
    const auto at = page->arguments;
    grow(at.axes[0] * at.axes[1]);
    clear_more(scratch.size());
    work(reinterpret_cast<const float*>(arena + at.offsets[0]), reinterpret_cast<const float*>(arena + at.offsets[1]),
         reinterpret_cast<float*>(arena + at.offsets[2]), at.axes[0], at.axes[1], at.axes[2]);
    cleared = 0;
  }
}
