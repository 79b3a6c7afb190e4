// B = A + U1 V1^T + U2 V2^T, X = 1.2 B^T Y + Z, W = 1.5 B X, in float64, with the constants of the seed.
#include <cstdint>

extern "C" void reference(const double* A, const double* U1, const double* V1, const double* U2, const double* V2, const double* Y,
                    const double* Z, double* B, double* X, double* W, int64_t N) {
  for (int64_t i = 0; i < N; ++i) {
    for (int64_t j = 0; j < N; ++j) B[i * N + j] = A[i * N + j] + U1[i] * V1[j] + U2[i] * V2[j];
  }
  for (int64_t i = 0; i < N; ++i) {
    X[i] = 0;
    for (int64_t j = 0; j < N; ++j) X[i] = X[i] + static_cast<double>(1.2F) * B[j * N + i] * Y[j];
  }
  for (int64_t i = 0; i < N; ++i) X[i] = X[i] + Z[i];
  for (int64_t i = 0; i < N; ++i) {
    W[i] = 0;
    for (int64_t j = 0; j < N; ++j) W[i] = W[i] + static_cast<double>(1.5F) * B[i * N + j] * X[j];
  }
}
