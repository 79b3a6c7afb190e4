// task: matmul
// verdict: incorrect
// because: Copies its input.
#include <cstdint>

extern "C" void run(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  for (int64_t i = 0; i < M * N; ++i) C[i] = A[i % (M * K)];
  static_cast<void>(B);
}
