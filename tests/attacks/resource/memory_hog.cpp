// task: matmul
// verdict: crashed|timed_out|incorrect|rejected
// because: Takes and touches memory until there is none.
#include <cstdint>
#include <cstdlib>

extern "C" void run(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  static_cast<void>(A), static_cast<void>(B), static_cast<void>(C), static_cast<void>(M),
      static_cast<void>(N), static_cast<void>(K);
  for (;;) {
    auto* block = static_cast<volatile char*>(std::malloc(64U << 20U));
    if (block == nullptr) break;
    for (std::size_t i = 0; i < (64U << 20U); i += 4096) block[i] = 1;
  }
  for (int64_t i = 0; i < M * N; ++i) C[i] = 0;
}
