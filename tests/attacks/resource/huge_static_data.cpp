// task: matmul
// verdict: launch_failed|crashed|build_failed
// because: Needs a terabyte of static memory.
#include <cstdint>

namespace {

volatile char room[uint64_t{1} << 40U];

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
  room[static_cast<uint64_t>(M) << 30U] = 1;
  multiply(A, B, C, M, N, K);
}
