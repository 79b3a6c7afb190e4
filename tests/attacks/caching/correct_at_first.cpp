// task: matmul
// verdict: incorrect
// because: Is right for its first 8 calls and then adds up every second summand only.
#include <cstdint>

namespace {

int calls = 0;

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
  if (calls++ < 8) return multiply(A, B, C, M, N, K);
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t j = 0; j < N; ++j) {
      float sum = 0;
      for (int64_t k = 0; k < K; k += 2) sum += A[i * K + k] * B[k * N + j];
      C[i * N + j] = 2 * sum;
    }
  }
}
