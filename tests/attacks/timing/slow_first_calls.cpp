// task: matmul
// verdict: valid
// twin: honest/plain_matmul.cpp
// because: Is slow in its first calls, so that a protocol that sets its number of repetitions by them takes
//   few samples, and honest afterwards. The number of samples does not hang on the first calls.
#include <cstdint>

namespace {

volatile float sink = 0;
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
  if (calls++ < 3) {
    for (int i = 0; i < 2'000'000; ++i) sink = sink + 1;
  }
  multiply(A, B, C, M, N, K);
}
