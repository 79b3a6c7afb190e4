// task: matmul
// verdict: valid
// because: Halves the longest side until blocks are small, adding into its output.
#include <cstdint>

namespace {

void add(const float* A, const float* B, float* C, int64_t m, int64_t n, int64_t k, int64_t N, int64_t K) {
  if (m <= 8 && n <= 8 && k <= 8) {
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t p = 0; p < k; ++p) {
        for (int64_t j = 0; j < n; ++j) C[i * N + j] += A[i * K + p] * B[p * N + j];
      }
    }
  } else if (m >= n && m >= k) {
    add(A, B, C, m / 2, n, k, N, K);
    add(A + m / 2 * K, B, C + m / 2 * N, m - m / 2, n, k, N, K);
  } else if (n >= k) {
    add(A, B, C, m, n / 2, k, N, K);
    add(A, B + n / 2, C + n / 2, m, n - n / 2, k, N, K);
  } else {
    add(A, B, C, m, n, k / 2, N, K);
    add(A + k / 2, B + k / 2 * N, C, m, n, k - k / 2, N, K);
  }
}

}  // namespace

extern "C" void run(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  for (int64_t i = 0; i < M * N; ++i) C[i] = 0;
  add(A, B, C, M, N, K, N, K);
}
