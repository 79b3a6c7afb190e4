// task: matmul
// verdict: valid
// because: Calls the vector functions of the C library (libmvec) by their names.
#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>

extern "C" __m128 _ZGVbN4v_expf(__m128);
extern "C" __m128 _ZGVbN4v_logf(__m128);

namespace {

// exp(log(1)) is 1, exactly.
float one() {
  return _mm_cvtss_f32(_ZGVbN4v_expf(_ZGVbN4v_logf(_mm_set1_ps(1.0F))));
}

}  // namespace
#else
namespace {

float one() {
  return 1.0F;
}

}  // namespace
#endif

extern "C" void run(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  const float scale = one();
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t j = 0; j < N; ++j) C[i * N + j] = 0;
    for (int64_t k = 0; k < K; ++k) {
      const float a = scale * A[i * K + k];
      for (int64_t j = 0; j < N; ++j) C[i * N + j] += a * B[k * N + j];
    }
  }
}
