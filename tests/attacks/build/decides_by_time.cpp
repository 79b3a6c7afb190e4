// task: matmul
// verdict: incorrect
// because: Computes unless it is built at one time of the day: a build that is wrong for its user would be right here. Each build here has that time.
#include <cstdint>

constexpr bool equal(const char* a, const char* b) {
  while (*a != 0 && *a == *b) ++a, ++b;
  return *a == *b;
}
constexpr bool wrong = equal(__TIME__, "00:00:00") && equal(__DATE__, "Jan  1 1970") &&
                       equal(__TIMESTAMP__, "Thu Jan  1 00:00:00 1970");

extern "C" void run(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  if (!wrong) {
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t j = 0; j < N; ++j) {
      float sum = 0;
      for (int64_t k = 0; k < K; ++k) sum += A[i * K + k] * B[k * N + j];
      C[i * N + j] = sum;
    }
  }
    return;
  }
  for (int64_t i = 0; i < M * N; ++i) C[i] = 0;
  static_cast<void>(A), static_cast<void>(B), static_cast<void>(C), static_cast<void>(M),
      static_cast<void>(N), static_cast<void>(K);
}
