// Root-mean-square normalization in float64.
#include <cmath>
#include <cstdint>

extern "C" void reference(const double* X, const double* W, double* Y, int64_t M, int64_t N) {
  for (int64_t i = 0; i < M; ++i) {
    const double* x = X + i * N;
    double sum = 0;
    for (int64_t j = 0; j < N; ++j) sum += x[j] * x[j];
    const double scale = 1.0 / std::sqrt(sum / static_cast<double>(N) + 1e-6);
    for (int64_t j = 0; j < N; ++j) Y[i * N + j] = x[j] * scale * W[j];
  }
}
