// E = (1.5 A B) C + 1.2 D, in float64, with the constants of the seed.
#include <cstdint>

extern "C" void reference(const double* A, const double* B, const double* C, const double* D, double* S, double* E,
                    int64_t M, int64_t N, int64_t K, int64_t L) {
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t j = 0; j < N; ++j) {
      S[i * N + j] = 0;
      for (int64_t k = 0; k < K; ++k) S[i * N + j] += static_cast<double>(1.5F) * A[i * K + k] * B[k * N + j];
    }
  }
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t j = 0; j < L; ++j) {
      E[i * L + j] = D[i * L + j] * static_cast<double>(1.2F);
      for (int64_t k = 0; k < N; ++k) E[i * L + j] += S[i * N + k] * C[k * L + j];
    }
  }
}
