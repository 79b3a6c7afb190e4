// task: matmul
// verdict: valid
// because: Is compiled as by its user: as the main file of a translation unit of its own.
#include <cstdint>

constexpr bool equal(const char* a, const char* b) {
  while (*a != 0 && *a == *b) ++a, ++b;
  return *a == *b;
}
static_assert(__INCLUDE_LEVEL__ == 0 && equal(__BASE_FILE__, __FILE__));

extern "C" void run(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t j = 0; j < N; ++j) {
      float sum = 0;
      for (int64_t k = 0; k < K; ++k) sum += A[i * K + k] * B[k * N + j];
      C[i * N + j] = sum;
    }
  }
}
