// task: matmul
// verdict: incorrect
// because: Skips products whose left factor is small: fine for few, wrong in sum.
#include <cmath>
#include <cstdint>

extern "C" void run(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t j = 0; j < N; ++j) C[i * N + j] = 0;
    for (int64_t k = 0; k < K; ++k) {
      const float a = A[i * K + k];
      if (std::fabs(a) < 0.05F) continue;
      for (int64_t j = 0; j < N; ++j) C[i * N + j] += a * B[k * N + j];
    }
  }
}
