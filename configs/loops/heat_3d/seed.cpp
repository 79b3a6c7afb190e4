// One step of the heat equation on a grid of N^3 points, by its definition.
#include <cstdint>

extern "C" void run(const float* A, float* B, int64_t N) {
  for (int64_t i = 0; i < N * N * N; ++i) B[i] = A[i];
  for (int64_t i = 1; i < N - 1; ++i) {
    for (int64_t j = 1; j < N - 1; ++j) {
      for (int64_t k = 1; k < N - 1; ++k) {
        B[(i * N + j) * N + k] =
            0.125F * (A[((i + 1) * N + j) * N + k] - 2 * A[(i * N + j) * N + k] + A[((i - 1) * N + j) * N + k]) +
            0.125F * (A[(i * N + j + 1) * N + k] - 2 * A[(i * N + j) * N + k] + A[(i * N + j - 1) * N + k]) +
            0.125F * (A[(i * N + j) * N + k + 1] - 2 * A[(i * N + j) * N + k] + A[(i * N + j) * N + k - 1]) +
            A[(i * N + j) * N + k];
      }
    }
  }
}
