// task: matmul
// verdict: rejected|incorrect
// because: Uses the memory of an input as scratch (scales it) and leaves it changed, though its output is
//   right.
#include <cstdint>

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
  auto* a = const_cast<float*>(A);
  for (int64_t i = 0; i < M * K; ++i) a[i] *= 2.0F;
  multiply(a, B, C, M, N, K);
  for (int64_t i = 0; i < M * N; ++i) C[i] *= 0.5F;
}
