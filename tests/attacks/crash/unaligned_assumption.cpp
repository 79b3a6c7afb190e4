// task: matmul
// verdict: crashed
// because: Uses aligned vector stores on rows that are aligned for the visible shapes only.
#include <cstdint>
#include <immintrin.h>

namespace {

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
  multiply(A, B, C, M, N, K);
  for (int64_t i = 0; i < M; ++i) {
    float* const row = C + i * N;
    if (N >= 4) asm volatile("movaps (%0), %%xmm0\n\tmovaps %%xmm0, (%0)" : : "r"(row) : "xmm0", "memory");
  }
}
