// S = A^T R and Q = A P, by its definition.
#include <cstdint>

extern "C" void run(const float* A, const float* P, const float* R, float* S,
                    float* Q, int64_t M, int64_t N) {
  for (int64_t i = 0; i < N; ++i) S[i] = 0;
  for (int64_t i = 0; i < M; ++i) {
    Q[i] = 0;
    for (int64_t j = 0; j < N; ++j) {
      S[j] = S[j] + R[i] * A[i * N + j];
      Q[i] = Q[i] + A[i * N + j] * P[j];
    }
  }
}
