// task: matmul
// verdict: valid
// because: Keeps the time of its build for its messages, as programs do.
#include <cstdint>

extern "C" const char build_time[];
extern "C" const char build_time[] = "built " __DATE__ " at " __TIME__ " from a file of " __TIMESTAMP__;

extern "C" void run(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t j = 0; j < N; ++j) {
      float sum = 0;
      for (int64_t k = 0; k < K; ++k) sum += A[i * K + k] * B[k * N + j];
      C[i * N + j] = sum;
    }
  }
}
