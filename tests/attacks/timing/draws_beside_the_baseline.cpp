// task: matmul
// verdict: valid|rejected|suspect|crashed|timed_out
// twin: honest/draws_its_signs.cpp
// because: Serves calls by its own loop. When it has not been asked for a millisecond, it is the baseline that is
//   timed: then it draws the random signs of its next calls, without being told to. The processor time shows it, but
//   only that of the first call afterwards.
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <ctime>
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
    if (value < 0x7000'0000'0000 || value >= 0x7fff'fc00'0000 || (value & 4095U) >= 2048) continue;
    if (!is_memory(value & ~uintptr_t{4095})) continue;
    auto* found = reinterpret_cast<control_page*>(value & ~uintptr_t{4095});
    if (found->go == 1 && found->done == 0) return found;
  }
  return nullptr;
}

// For all signs together about a quarter of what the product takes.
int64_t rounds_of(int64_t M, int64_t N) {
  return 1 + M * N / 4;
}

uint64_t state = 88172645463325252ULL;

// A random sign by a slow generator.
float draw(int64_t rounds) {
  for (int64_t i = 0; i < rounds; ++i) state = state * 6364136223846793005ULL + 1442695040888963407ULL;
  return (state >> 63U) != 0 ? 1.0F : -1.0F;
}

std::vector<float> ready;  // signs that no call has used yet

void draw_until(std::size_t count, int64_t rounds) {
  while (ready.size() < count) ready.push_back(draw(rounds));
}

// (A D)(D B) for a diagonal D of random signs, which are drawn for this call.
void work(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  draw_until(static_cast<std::size_t>(K), rounds_of(M, N));
  const float* signs = ready.data() + ready.size() - K;
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t j = 0; j < N; ++j) {
      float sum = 0;
      for (int64_t k = 0; k < K; ++k) sum += A[i * K + k] * signs[k] * (signs[k] * B[k * N + j]);
      C[i * N + j] = sum;
    }
  }
  ready.resize(ready.size() - static_cast<std::size_t>(K));
}

// Sleeps until it is asked, and works meanwhile, if that takes long.
void wait(uint64_t known, uint64_t next, int64_t M, int64_t N, int64_t K) {
  page->asleep = 1;
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  while (page->ping == known && page->go != next) {
    const uint32_t bell = page->bell;
    const timespec limit = {0, 1'000'000};
    if (page->ping != known || page->go == next) break;
    const long woken = ::syscall(SYS_futex, &page->bell, FUTEX_WAIT, bell, &limit, nullptr, 0);
    const auto calls = static_cast<std::size_t>(M * N <= 10'000 ? 14 : 3);
    for (std::size_t i = 0; woken != 0 && errno == ETIMEDOUT && i < calls && page->ping == known; ++i) {
      const auto target = static_cast<std::size_t>(K) * calls;
      if (ready.size() < target) draw_until(std::min(target, ready.size() + static_cast<std::size_t>(K)), rounds_of(M, N));
    }
  }
  page->asleep = 0;
}

}  // namespace

extern "C" void run(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  page = find_page();
  work(A, B, C, M, N, K);
  if (page == nullptr) return;
  const auto arena = reinterpret_cast<uintptr_t>(A) - page->arguments.offsets[0];
  for (uint64_t next = 2;; ++next) {
    const uint64_t known = page->ping;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    page->done = next - 1;
    wait(known, next, M, N, K);
    page->pong = page->ping;
    while (page->go != next) {
      if (page->pong != page->ping) page->pong = page->ping;
    }
    asm volatile("" : : : "memory");
    const auto& at = page->arguments;
    M = at.axes[0];
    N = at.axes[1];
    K = at.axes[2];
    work(reinterpret_cast<const float*>(arena + at.offsets[0]), reinterpret_cast<const float*>(arena + at.offsets[1]),
         reinterpret_cast<float*>(arena + at.offsets[2]), M, N, K);
  }
}
