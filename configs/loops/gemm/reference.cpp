// C = 1.5 A B + 1.2 D, in float64, with the constants of the seed.
#include <cstdint>

extern "C" void reference(const double* A, const double* B, const double* D, double* C,
                    int64_t M, int64_t N, int64_t K) {
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t j = 0; j < N; ++j) C[i * N + j] = D[i * N + j] * static_cast<double>(1.2F);
    for (int64_t k = 0; k < K; ++k) {
      for (int64_t j = 0; j < N; ++j) C[i * N + j] += static_cast<double>(1.5F) * A[i * K + k] * B[k * N + j];
    }
  }
}
