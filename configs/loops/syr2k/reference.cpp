// The lower triangle of C = 1.5 (A B^T + B A^T) + 1.2 D, above it C = D, in float64, with the constants of the seed.
#include <cstdint>

extern "C" void reference(const double* A, const double* B, const double* D, double* C, int64_t N, int64_t K) {
  for (int64_t i = 0; i < N; ++i) {
    for (int64_t j = 0; j < N; ++j) C[i * N + j] = D[i * N + j];
    for (int64_t j = 0; j <= i; ++j) C[i * N + j] = C[i * N + j] * static_cast<double>(1.2F);
    for (int64_t k = 0; k < K; ++k) {
      for (int64_t j = 0; j <= i; ++j) {
        C[i * N + j] += A[j * K + k] * static_cast<double>(1.5F) * B[i * K + k] + B[j * K + k] * static_cast<double>(1.5F) * A[i * K + k];
      }
    }
  }
}
