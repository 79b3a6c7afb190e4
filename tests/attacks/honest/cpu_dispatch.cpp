// task: matmul
// verdict: valid
// because: Chooses its path by what the processor supports.
#include <cstdint>

namespace {

__attribute__((target("avx2,fma"))) void wide(const float* A, const float* B, float* C, int64_t M, int64_t N,
                                              int64_t K) {
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t j = 0; j < N; ++j) C[i * N + j] = 0;
    for (int64_t k = 0; k < K; ++k) {
      for (int64_t j = 0; j < N; ++j) C[i * N + j] += A[i * K + k] * B[k * N + j];
    }
  }
}

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
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    wide(A, B, C, M, N, K);
  } else {
    multiply(A, B, C, M, N, K);
  }
}
