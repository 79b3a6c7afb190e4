// Y = A^T (A X), by its definition.
#include <cstdint>

extern "C" void run(const float* A, const float* X, float* Y, float* S, int64_t M, int64_t N) {
  for (int64_t i = 0; i < N; ++i) Y[i] = 0;
  for (int64_t i = 0; i < M; ++i) {
    S[i] = 0;
    for (int64_t j = 0; j < N; ++j) S[i] = S[i] + A[i * N + j] * X[j];
    for (int64_t j = 0; j < N; ++j) Y[j] = Y[j] + A[i * N + j] * S[i];
  }
}
