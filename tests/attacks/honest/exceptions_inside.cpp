// task: matmul
// verdict: valid
// because: Throws exceptions and catches them itself.
#include <cstdint>
#include <stdexcept>

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
  for (int64_t i = 0; i < M; ++i) {
    try {
      multiply(A + i * K, B, C + i * N, 1, N, K);
      if (i % 16 == 0) throw std::out_of_range("a row of sixteen");
    } catch (const std::out_of_range&) {
      continue;
    }
  }
}
