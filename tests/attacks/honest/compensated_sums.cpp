// task: matmul
// verdict: valid
// because: Adds up with Kahan's compensation.
#include <cstdint>

extern "C" void run(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t j = 0; j < N; ++j) {
      volatile float sum = 0;
      float lost = 0;
      for (int64_t k = 0; k < K; ++k) {
        const float term = A[i * K + k] * B[k * N + j] - lost;
        const float before = sum;
        sum = before + term;
        lost = (sum - before) - term;
      }
      C[i * N + j] = sum;
    }
  }
}
