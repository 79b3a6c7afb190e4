// task: matmul
// verdict: incorrect
// because: Multiplies in float32 and adds up in float16.
#include <cstdint>

extern "C" void run(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t j = 0; j < N; ++j) {
      _Float16 sum = 0;
      for (int64_t k = 0; k < K; ++k)
        sum = static_cast<_Float16>(sum + static_cast<_Float16>(A[i * K + k] * B[k * N + j]));
      C[i * N + j] = static_cast<float>(sum);
    }
  }
}
