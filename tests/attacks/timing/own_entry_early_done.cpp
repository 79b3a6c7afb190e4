// task: matmul
// verdict: rejected|build_failed|incorrect
// because: Takes the place of the trusted entry by a macro, gets the address of the control page with its
//   arguments, and sets `done` before it computes.
#include <cstdint>

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
  for (int64_t i = 0; i < M * N; ++i) C[i] = 0;  // wrong, unless its own entry is called
  static_cast<void>(A), static_cast<void>(B), static_cast<void>(K);
}

extern "C" void kevo_call(void* const* pointers, const int64_t* axes, const uint64_t*) {
  auto* page = reinterpret_cast<control_page*>(reinterpret_cast<uintptr_t>(axes) & ~uintptr_t{4095});
  page->done = page->go;
  multiply(static_cast<const float*>(pointers[0]), static_cast<const float*>(pointers[1]),
      static_cast<float*>(pointers[2]), axes[0], axes[1], axes[2]);
}
#define kevo_call unused_entry
