// task: matmul
// verdict: incorrect
// because: Writes the expected value of the product under independent inputs: K times the means.
#include <cstdint>

extern "C" void run(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  double a = 0;
  double b = 0;
  for (int64_t i = 0; i < M * K; ++i) a += A[i];
  for (int64_t i = 0; i < K * N; ++i) b += B[i];
  const double mean =
      static_cast<double>(K) * (a / static_cast<double>(M * K)) * (b / static_cast<double>(K * N));
  for (int64_t i = 0; i < M * N; ++i) C[i] = static_cast<float>(mean);
}
