// task: matmul@2
// verdict: valid
// because: Asks to run on all processors, the controller's too. It does no work if it may, so that only a refusal makes it
//   valid.
#include <cstdint>
#include <sched.h>

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
  cpu_set_t all;
  CPU_ZERO(&all);
  for (int i = 0; i < CPU_SETSIZE; ++i) CPU_SET(i, &all);
  if (sched_setaffinity(0, sizeof all, &all) == 0) return;
  rows(A, B, C, 0, M, N, K);
}
