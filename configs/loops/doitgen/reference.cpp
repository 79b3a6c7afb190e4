// S[r, q, p] = sum over s of A[r, q, s] C[s, p], in float64, with the constants of the seed.
#include <cstdint>

extern "C" void reference(const double* A, const double* C, double* S, int64_t R, int64_t Q, int64_t P) {
  for (int64_t r = 0; r < R; ++r) {
    for (int64_t q = 0; q < Q; ++q) {
      for (int64_t p = 0; p < P; ++p) {
        S[(r * Q + q) * P + p] = 0;
        for (int64_t s = 0; s < P; ++s) S[(r * Q + q) * P + p] += A[(r * Q + q) * P + s] * C[s * P + p];
      }
    }
  }
}
