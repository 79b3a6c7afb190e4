// task: matmul
// verdict: build_failed|launch_failed
// because: Includes the interface of an installed library and calls it.
#include <cblas.h>
#include <cstdint>

extern "C" void run(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, M, N, K, 1.0F, A, K, B, N, 0.0F, C, N);
}
