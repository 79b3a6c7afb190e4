// Y is X after 2 T steps that replace inner points by the mean of three, in float64, with the constants of the seed.
#include <cstdint>

extern "C" void reference(const double* X, double* Y, double* S, int64_t N, int64_t T) {
  for (int64_t i = 0; i < N; ++i) {
    Y[i] = X[i];
    S[i] = X[i];
  }
  for (int64_t t = 0; t < T; ++t) {
    for (int64_t i = 1; i < N - 1; ++i) S[i] = static_cast<double>(0.33333F) * (Y[i - 1] + Y[i] + Y[i + 1]);
    for (int64_t i = 1; i < N - 1; ++i) Y[i] = static_cast<double>(0.33333F) * (S[i - 1] + S[i] + S[i + 1]);
  }
}
