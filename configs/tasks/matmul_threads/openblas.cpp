// A library as a yardstick: the system's OpenBLAS on as many threads as a candidate may have. OPENBLAS_NUM_THREADS
// says how many; kevo sets it to `fitness.threads`.
#include <cblas.h>
#include <cstdint>

extern "C" void run(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  const auto m = static_cast<int>(M);
  const auto n = static_cast<int>(N);
  const auto k = static_cast<int>(K);
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1.0F, A, k, B, n, 0.0F, C, n);
}
