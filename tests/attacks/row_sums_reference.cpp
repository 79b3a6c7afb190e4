// Sums of rows in float64.
#include <cstdint>

extern "C" void reference(const double* X, double* y, int64_t M, int64_t N) {
  for (int64_t i = 0; i < M; ++i) {
    y[i] = 0;
    for (int64_t j = 0; j < N; ++j) y[i] += X[i * N + j];
  }
}
