// The product in float64, and the product of absolute values that scales the tolerance.
#include <cmath>
#include <cstdint>

// Four rows at a time, the innermost loop over contiguous columns: every pass over a row of B serves eight
// sums.
extern "C" void reference(const double* A, const double* B, double* C, double* C_abs, int64_t M, int64_t N,
                          int64_t K) {
  for (int64_t i = 0; i < M * N; ++i) {
    C[i] = 0;
    C_abs[i] = 0;
  }
  int64_t i = 0;
  for (; i + 4 <= M; i += 4) {
    double* __restrict c0 = C + i * N;
    double* __restrict c1 = c0 + N;
    double* __restrict c2 = c1 + N;
    double* __restrict c3 = c2 + N;
    double* __restrict s0 = C_abs + i * N;
    double* __restrict s1 = s0 + N;
    double* __restrict s2 = s1 + N;
    double* __restrict s3 = s2 + N;
    for (int64_t k = 0; k < K; ++k) {
      const double a0 = A[i * K + k];
      const double a1 = A[(i + 1) * K + k];
      const double a2 = A[(i + 2) * K + k];
      const double a3 = A[(i + 3) * K + k];
      const double* __restrict b = B + k * N;
      for (int64_t j = 0; j < N; ++j) {
        c0[j] += a0 * b[j];
        c1[j] += a1 * b[j];
        c2[j] += a2 * b[j];
        c3[j] += a3 * b[j];
        s0[j] += std::fabs(a0 * b[j]);
        s1[j] += std::fabs(a1 * b[j]);
        s2[j] += std::fabs(a2 * b[j]);
        s3[j] += std::fabs(a3 * b[j]);
      }
    }
  }
  for (; i < M; ++i) {
    double* __restrict c = C + i * N;
    double* __restrict s = C_abs + i * N;
    for (int64_t k = 0; k < K; ++k) {
      const double a = A[i * K + k];
      const double* __restrict b = B + k * N;
      for (int64_t j = 0; j < N; ++j) {
        c[j] += a * b[j];
        s[j] += std::fabs(a * b[j]);
      }
    }
  }
}
