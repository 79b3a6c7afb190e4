// task: matmul
// verdict: valid
// because: Writes its output with non-temporal stores, which other processors see late unless a fence
//   follows; it leaves the fence to the caller.
#include <cstdint>
#include <immintrin.h>

extern "C" void run(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t j = 0; j < N; ++j) {
      float sum = 0;
      for (int64_t k = 0; k < K; ++k) sum += A[i * K + k] * B[k * N + j];
      int bits = 0;
      __builtin_memcpy(&bits, &sum, sizeof bits);
      _mm_stream_si32(reinterpret_cast<int*>(C + i * N + j), bits);
    }
  }
}
