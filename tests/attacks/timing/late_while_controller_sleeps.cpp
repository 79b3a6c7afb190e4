// task: matmul
// verdict: valid|rejected|suspect|incorrect|crashed|timed_out
// twin: honest/plain_matmul.cpp
// because: Takes three milliseconds for the first call of each process, which is not timed, so that the controller
//   takes all calls for long and sleeps during them. Then it says "done" at once and computes while the controller
//   sleeps: when that looks, all is there.
#include <cerrno>
#include <cstdint>
#include <ctime>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

// The worker's control page as its source declares it.
struct control_page {
  alignas(64) volatile uint64_t ping;
  alignas(64) volatile uint64_t go;
  alignas(64) struct {
    uint64_t offsets[48];
    int64_t axes[32];
    uint64_t scalars[32];
    uint32_t pointers;
  } arguments;
  alignas(64) volatile uint64_t pong;
  alignas(64) volatile uint64_t done;
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

void multiply(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t j = 0; j < N; ++j) {
      float sum = 0;
      for (int64_t k = 0; k < K; ++k) sum += A[i * K + k] * B[k * N + j];
      C[i * N + j] = sum;
    }
  }
}

}  // namespace

extern "C" void run(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  static int calls = 0;
  if (calls++ > 0) {
    if (page != nullptr) page->done = page->go;
    return multiply(A, B, C, M, N, K);
  }
  page = find_page();
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const int64_t end = now.tv_sec * 1'000'000'000 + now.tv_nsec + 3'000'000;
  do clock_gettime(CLOCK_MONOTONIC, &now);
  while (now.tv_sec * 1'000'000'000 + now.tv_nsec < end);
  multiply(A, B, C, M, N, K);
}
