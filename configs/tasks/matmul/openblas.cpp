// A library as a yardstick: the system's OpenBLAS, held to one thread.
#include <cblas.h>
#include <cstdint>

extern "C" void openblas_set_num_threads(int threads);

extern "C" void run(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  openblas_set_num_threads(1);
  const auto m = static_cast<int>(M);
  const auto n = static_cast<int>(N);
  const auto k = static_cast<int>(K);
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1.0F, A, k, B, n, 0.0F, C, n);
}
