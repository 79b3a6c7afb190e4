// task: matmul
// verdict: valid
// because: Reads whole vectors that reach beyond an input, and uses only what is inside. What lies there is
//   not its own, but reading does no harm.
#include <cstdint>
#include <immintrin.h>

extern "C" void run(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t j = 0; j < N; ++j) {
      __m128 sum = _mm_setzero_ps();
      for (int64_t k = 0; k < K; k += 4) {
        float left[4];
        _mm_storeu_ps(left, _mm_loadu_ps(A + i * K + k));  // may reach up to 12 bytes beyond A
        float right[4] = {0, 0, 0, 0};
        for (int64_t s = 0; s < 4; ++s) {
          if (k + s < K) {
            right[s] = B[(k + s) * N + j];
          } else {
            left[s] = 0;
          }
        }
        sum = _mm_add_ps(sum, _mm_mul_ps(_mm_loadu_ps(left), _mm_loadu_ps(right)));
      }
      float lanes[4];
      _mm_storeu_ps(lanes, sum);
      C[i * N + j] = lanes[0] + lanes[1] + lanes[2] + lanes[3];
    }
  }
}
