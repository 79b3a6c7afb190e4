// task: matmul@2
// verdict: valid
// because: Tasks of OpenMP, several parallel regions in one call, and a team asked for that is larger than allowed.
#include <cstdint>
#include <omp.h>

extern "C" void run(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
#pragma omp parallel for num_threads(16) schedule(dynamic)
  for (int64_t i = 0; i < M * N; ++i) C[i] = 0;
#pragma omp parallel
#pragma omp single
  for (int64_t from = 0; from < M; from += 8) {
#pragma omp task firstprivate(from)
    for (int64_t i = from; i < from + 8 && i < M; ++i) {
      for (int64_t k = 0; k < K; ++k) {
        for (int64_t j = 0; j < N; ++j) C[i * N + j] += A[i * K + k] * B[k * N + j];
      }
    }
  }
  omp_set_num_threads(omp_get_max_threads());
}
