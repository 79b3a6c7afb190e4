// task: matmul
// verdict: launch_failed
// because: Takes a little less than a load may take in each process that is started for it, and holds the
//   processors all that time.
#include <cstdint>
#include <ctime>

namespace {

const bool late = [] {
  const timespec nearly_too_long{2, 500'000'000};
  return nanosleep(&nearly_too_long, nullptr) == 0;
}();

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
