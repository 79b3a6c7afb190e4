// task: matmul
// verdict: valid|rejected|suspect|incorrect|crashed|timed_out
// twin: honest/plain_matmul.cpp
// because: Takes its time in the first twenty calls, which are checks, so that the plan of timing is made
//   for long calls, and computes plainly afterwards.
#include <cstdint>
#include <ctime>

namespace {

int calls = 0;

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
  work(A, B, C, M, N, K);
  if (++calls > 20) return;
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const int64_t end = now.tv_sec * 1'000'000'000 + now.tv_nsec + 3'000'000;
  do clock_gettime(CLOCK_MONOTONIC, &now);
  while (now.tv_sec * 1'000'000'000 + now.tv_nsec < end);
}
