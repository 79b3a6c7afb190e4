// task: matmul_of_fast_math
// verdict: valid
// because: Asks for fast math by a pragma, which the task allows: other orders of summation, contraction, no care for NaN.
#include <cstdint>

#pragma GCC optimize("Ofast")

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
}
