// One step of the heat equation on a grid of N^3 points, in float64, with the constants of the seed.
#include <cstdint>

extern "C" void reference(const double* A, double* B, int64_t N) {
  for (int64_t i = 0; i < N * N * N; ++i) B[i] = A[i];
  for (int64_t i = 1; i < N - 1; ++i) {
    for (int64_t j = 1; j < N - 1; ++j) {
      for (int64_t k = 1; k < N - 1; ++k) {
        B[(i * N + j) * N + k] =
            static_cast<double>(0.125F) * (A[((i + 1) * N + j) * N + k] - 2 * A[(i * N + j) * N + k] + A[((i - 1) * N + j) * N + k]) +
            static_cast<double>(0.125F) * (A[(i * N + j + 1) * N + k] - 2 * A[(i * N + j) * N + k] + A[(i * N + j - 1) * N + k]) +
            static_cast<double>(0.125F) * (A[(i * N + j) * N + k + 1] - 2 * A[(i * N + j) * N + k] + A[(i * N + j) * N + k - 1]) +
            A[(i * N + j) * N + k];
      }
    }
  }
}
