// Y = A^T (A X), in float64, with the constants of the seed.
#include <cstdint>

extern "C" void reference(const double* A, const double* X, double* Y, double* S, int64_t M, int64_t N) {
  for (int64_t i = 0; i < N; ++i) Y[i] = 0;
  for (int64_t i = 0; i < M; ++i) {
    S[i] = 0;
    for (int64_t j = 0; j < N; ++j) S[i] = S[i] + A[i * N + j] * X[j];
    for (int64_t j = 0; j < N; ++j) Y[j] = Y[j] + A[i * N + j] * S[i];
  }
}
