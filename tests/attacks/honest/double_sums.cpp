// task: matmul
// verdict: valid
// because: Adds up in float64: more precise than asked for.
#include <cstdint>

extern "C" void run(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t j = 0; j < N; ++j) {
      double sum = 0;
      for (int64_t k = 0; k < K; ++k)
        sum += static_cast<double>(A[i * K + k]) * static_cast<double>(B[k * N + j]);
      C[i * N + j] = static_cast<float>(sum);
    }
  }
}
