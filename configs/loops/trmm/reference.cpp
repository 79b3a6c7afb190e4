// C = 1.5 A^T B with a unit lower triangular A, in float64, with the constants of the seed.
#include <cstdint>

extern "C" void reference(const double* A, const double* B, double* C, int64_t M, int64_t N) {
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t j = 0; j < N; ++j) {
      C[i * N + j] = B[i * N + j];
      for (int64_t k = i + 1; k < M; ++k) C[i * N + j] += A[k * M + i] * B[k * N + j];
      C[i * N + j] = static_cast<double>(1.5F) * C[i * N + j];
    }
  }
}
