// Rows of C are shared out among the threads; each is a sum of rows of B.
#include <cstdint>

extern "C" void run(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
#pragma omp parallel for
  for (int64_t i = 0; i < M; ++i) {
    float* c = C + i * N;
    for (int64_t j = 0; j < N; ++j) c[j] = 0;
    for (int64_t k = 0; k < K; ++k) {
      const float a = A[i * K + k];
      for (int64_t j = 0; j < N; ++j) c[j] += a * B[k * N + j];
    }
  }
}
