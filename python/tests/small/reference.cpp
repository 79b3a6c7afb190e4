#include <cstdint>

extern "C" void reference(const double* X, double* Y, int64_t N) {
  for (int64_t i = 0; i < N; ++i) Y[i] = 2.0 * X[i];
}
