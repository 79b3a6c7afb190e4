// B = A + U1 V1^T + U2 V2^T, X = 1.2 B^T Y + Z, W = 1.5 B X, by its definition.
#include <cstdint>

extern "C" void run(const float* A, const float* U1, const float* V1, const float* U2, const float* V2, const float* Y,
                    const float* Z, float* B, float* X, float* W, int64_t N) {
  for (int64_t i = 0; i < N; ++i) {
    for (int64_t j = 0; j < N; ++j) B[i * N + j] = A[i * N + j] + U1[i] * V1[j] + U2[i] * V2[j];
  }
  for (int64_t i = 0; i < N; ++i) {
    X[i] = 0;
    for (int64_t j = 0; j < N; ++j) X[i] = X[i] + 1.2F * B[j * N + i] * Y[j];
  }
  for (int64_t i = 0; i < N; ++i) X[i] = X[i] + Z[i];
  for (int64_t i = 0; i < N; ++i) {
    W[i] = 0;
    for (int64_t j = 0; j < N; ++j) W[i] = W[i] + 1.5F * B[i * N + j] * X[j];
  }
}
