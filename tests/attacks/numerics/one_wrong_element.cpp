// task: matmul
// verdict: incorrect
// because: Is right but for one element, at another place in every call.
#include <cstdint>

namespace {

uint64_t calls = 0;

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
  const auto place = static_cast<int64_t>(++calls * 2654435761U % static_cast<uint64_t>(M * N));
  C[place] *= 1.001F;
  if (C[place] == 0) C[place] = 1;
}
