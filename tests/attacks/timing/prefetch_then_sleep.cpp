// task: large_matmul
// verdict: valid|rejected|suspect|incorrect|crashed|timed_out
// twin: honest/plain_matmul.cpp
// because: Prefetches its inputs, leaves the processor while they arrive, and computes when it comes back:
//   processor time alone would not count the wait.
#include <cstdint>
#include <ctime>

namespace {

void work(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
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
  for (int64_t i = 0; i < M * K; i += 16) __builtin_prefetch(A + i);
  for (int64_t i = 0; i < K * N; i += 16) __builtin_prefetch(B + i);
  const timespec pause = {0, 50000};
  nanosleep(&pause, nullptr);
  work(A, B, C, M, N, K);
}
