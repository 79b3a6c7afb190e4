// task: matmul
// verdict: valid
// because: Sets rounding to nearest, masks signals and catches its own divide-by-zero flag, and puts
//   everything back.
#include <cfenv>
#include <cstdint>

namespace {

void multiply(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t j = 0; j < N; ++j) {
      float sum = 0;
      for (int64_t k = 0; k < K; ++k) sum += A[i * K + k] * B[k * N + j];
      C[i * N + j] = sum;
    }
  }
}

}  // namespace

extern "C" void run(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  fenv_t before;
  fegetenv(&before);
  fesetround(FE_TONEAREST);
  volatile float zero = 0;
  volatile float infinite = 1.0F / zero;
  multiply(A, B, C, M, N, K);
  if (infinite < 0) C[0] = 0;
  fesetenv(&before);
}
