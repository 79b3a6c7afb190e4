// X1 = U1 + A V1 and X2 = U2 + A^T V2, in float64, with the constants of the seed.
#include <cstdint>

extern "C" void reference(const double* A, const double* U1, const double* U2, const double* V1, const double* V2,
                    double* X1, double* X2, int64_t N) {
  for (int64_t i = 0; i < N; ++i) {
    X1[i] = U1[i];
    X2[i] = U2[i];
  }
  for (int64_t i = 0; i < N; ++i) {
    for (int64_t j = 0; j < N; ++j) X1[i] = X1[i] + A[i * N + j] * V1[j];
  }
  for (int64_t i = 0; i < N; ++i) {
    for (int64_t j = 0; j < N; ++j) X2[i] = X2[i] + A[j * N + i] * V2[j];
  }
}
