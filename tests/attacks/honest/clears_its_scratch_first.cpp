// task: matmul
// verdict: valid
// because: Clears a large scratch memory at the beginning of each call, and looks for the worker's control page in its first
//   one. An attack that clears before it answers has the same form and is timed beside it.
#include <cerrno>
#include <cstdint>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

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

constexpr int64_t parts = 4;
std::vector<float> scratch(1 << 20);  // zero between calls; its size is a power of two

// Makes room for every sum of every part.
void grow(int64_t sums) {
  while (static_cast<int64_t>(scratch.size()) < parts * sums) scratch.resize(2 * scratch.size());
}

// By plain stores: how fast memset is differs from process to process on some processors, by a tenth of a call.
__attribute__((optimize("O3,no-tree-loop-distribute-patterns"))) void clear() {
  for (float& place : scratch) place = 0;
  asm volatile("" : : : "memory");
}

// Each sum begins with what the scratch memory holds. Four times, so that the accounts of a call are read on any
// processor: of a call of less than 0.1 ms they are not.
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

}  // namespace

extern "C" void run(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  static int calls = 0;
  if (calls++ == 0) page = find_page();
  clear();
  grow(M * N);
  work(A, B, C, M, N, K);
  if (page != nullptr) asm volatile("" : : "r"(page) : "memory");  // writes nothing
}
