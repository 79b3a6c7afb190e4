// task: matmul@2
// verdict: valid
// because: Starts a thread in each call and joins it.
#include <cstdint>
#include <thread>

namespace {

void rows(const float* A, const float* B, float* C, int64_t from, int64_t to, int64_t N, int64_t K) {
  for (int64_t i = from; i < to; ++i) {
    for (int64_t j = 0; j < N; ++j) {
      float sum = 0;
      for (int64_t k = 0; k < K; ++k) sum += A[i * K + k] * B[k * N + j];
      C[i * N + j] = sum;
    }
  }
}

}  // namespace

extern "C" void run(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  std::jthread other([=] { rows(A, B, C, M / 2, M, N, K); });
  rows(A, B, C, 0, M / 2, N, K);
}
