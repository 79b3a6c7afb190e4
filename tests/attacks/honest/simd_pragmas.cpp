// task: matmul
// verdict: valid
// because: Carries OpenMP and GCC pragmas that may or may not be understood.
#include <cstdint>

extern "C" void run(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  for (int64_t i = 0; i < M; ++i) {
#pragma GCC ivdep
    for (int64_t j = 0; j < N; ++j) C[i * N + j] = 0;
    for (int64_t k = 0; k < K; ++k) {
#pragma omp simd
      for (int64_t j = 0; j < N; ++j) C[i * N + j] += A[i * K + k] * B[k * N + j];
    }
  }
}
