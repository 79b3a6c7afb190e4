// task: matmul
// verdict: valid
// because: Uses SSE intrinsics with masks for the rest.
#include <cstdint>
#include <immintrin.h>

extern "C" void run(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  for (int64_t i = 0; i < M; ++i) {
    int64_t j = 0;
    for (; j + 4 <= N; j += 4) {
      __m128 sum = _mm_setzero_ps();
      for (int64_t k = 0; k < K; ++k) {
        sum = _mm_add_ps(sum, _mm_mul_ps(_mm_set1_ps(A[i * K + k]), _mm_loadu_ps(B + k * N + j)));
      }
      _mm_storeu_ps(C + i * N + j, sum);
    }
    for (; j < N; ++j) {
      float sum = 0;
      for (int64_t k = 0; k < K; ++k) sum += A[i * K + k] * B[k * N + j];
      C[i * N + j] = sum;
    }
  }
}
