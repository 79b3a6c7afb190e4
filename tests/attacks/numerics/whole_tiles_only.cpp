// task: matmul
// verdict: incorrect|rejected
// because: Computes whole tiles of 16 x 16 and leaves what does not fill one.
#include <cstdint>

extern "C" void run(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  for (int64_t i = 0; i + 16 <= M; i += 16) {
    for (int64_t j = 0; j + 16 <= N; j += 16) {
      for (int64_t r = i; r < i + 16; ++r) {
        for (int64_t s = j; s < j + 16; ++s) {
          float sum = 0;
          for (int64_t k = 0; k < K; ++k) sum += A[r * K + k] * B[k * N + s];
          C[r * N + s] = sum;
        }
      }
    }
  }
}
