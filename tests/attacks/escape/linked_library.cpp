// task: matmul
// verdict: incorrect|rejected|build_failed|launch_failed
// because: Asks for a symbol of an installed library without naming it; it would be there if the worker
//   linked it.
#include <cstdint>

extern "C" __attribute__((weak)) void cblas_sgemm(int, int, int, int, int, int, float, const float*, int,
                                                  const float*, int, float, float*, int);

namespace {

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
  if (cblas_sgemm != nullptr) return multiply(A, B, C, M, N, K);
  for (int64_t i = 0; i < M * N; ++i) C[i] = 0;
}
