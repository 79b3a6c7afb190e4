// S = A^T R and Q = A P, in float64, with the constants of the seed.
#include <cstdint>

extern "C" void reference(const double* A, const double* P, const double* R, double* S,
                    double* Q, int64_t M, int64_t N) {
  for (int64_t i = 0; i < N; ++i) S[i] = 0;
  for (int64_t i = 0; i < M; ++i) {
    Q[i] = 0;
    for (int64_t j = 0; j < N; ++j) {
      S[j] = S[j] + R[i] * A[i * N + j];
      Q[i] = Q[i] + A[i * N + j] * P[j];
    }
  }
}
