// Softmax of rows in float64, the largest element taken off first.
#include <cmath>
#include <cstdint>

extern "C" void reference(const double* X, double* Y, int64_t M, int64_t N) {
  for (int64_t i = 0; i < M; ++i) {
    const double* x = X + i * N;
    double* y = Y + i * N;
    double largest = x[0];
    for (int64_t j = 1; j < N; ++j) largest = x[j] > largest ? x[j] : largest;
    double sum = 0;
    for (int64_t j = 0; j < N; ++j) {
      y[j] = std::exp(x[j] - largest);
      sum += y[j];
    }
    for (int64_t j = 0; j < N; ++j) y[j] /= sum;
  }
}
