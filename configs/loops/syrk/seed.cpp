// The lower triangle of C = 1.5 A A^T + 1.2 D, above it C = D, by its definition.
#include <cstdint>

extern "C" void run(const float* A, const float* D, float* C, int64_t N, int64_t K) {
  for (int64_t i = 0; i < N; ++i) {
    for (int64_t j = 0; j < N; ++j) C[i * N + j] = D[i * N + j];
    for (int64_t j = 0; j <= i; ++j) C[i * N + j] = C[i * N + j] * 1.2F;
    for (int64_t k = 0; k < K; ++k) {
      for (int64_t j = 0; j <= i; ++j) C[i * N + j] += 1.5F * A[i * K + k] * A[j * K + k];
    }
  }
}
