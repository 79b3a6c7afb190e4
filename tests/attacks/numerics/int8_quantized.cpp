// task: matmul
// verdict: incorrect
// because: Quantizes both matrices to 8 bits and multiplies integers.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

extern "C" void run(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  float most_a = 0;
  float most_b = 0;
  for (int64_t i = 0; i < M * K; ++i) most_a = std::max(most_a, std::fabs(A[i]));
  for (int64_t i = 0; i < K * N; ++i) most_b = std::max(most_b, std::fabs(B[i]));
  std::vector<int8_t> a(static_cast<std::size_t>(M * K));
  std::vector<int8_t> b(static_cast<std::size_t>(K * N));
  for (int64_t i = 0; i < M * K; ++i)
    a[static_cast<std::size_t>(i)] = static_cast<int8_t>(std::lround(A[i] / most_a * 127));
  for (int64_t i = 0; i < K * N; ++i)
    b[static_cast<std::size_t>(i)] = static_cast<int8_t>(std::lround(B[i] / most_b * 127));
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t j = 0; j < N; ++j) {
      int32_t sum = 0;
      for (int64_t k = 0; k < K; ++k)
        sum += a[static_cast<std::size_t>(i * K + k)] * b[static_cast<std::size_t>(k * N + j)];
      C[i * N + j] = static_cast<float>(sum) * most_a * most_b / (127.0F * 127.0F);
    }
  }
}
