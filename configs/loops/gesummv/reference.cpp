// Y = 1.5 A X + 1.2 B X, in float64, with the constants of the seed.
#include <cstdint>

extern "C" void reference(const double* A, const double* B, const double* X, double* Y, int64_t N) {
  for (int64_t i = 0; i < N; ++i) {
    double a = 0;
    Y[i] = 0;
    for (int64_t j = 0; j < N; ++j) {
      a = A[i * N + j] * X[j] + a;
      Y[i] = B[i * N + j] * X[j] + Y[i];
    }
    Y[i] = static_cast<double>(1.5F) * a + static_cast<double>(1.2F) * Y[i];
  }
}
