// task: matmul
// verdict: valid
// because: Takes 2 MB of stack.
#include <alloca.h>
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
  constexpr int64_t floats = (2 << 20) / 4;
  auto* const stack = static_cast<volatile float*>(alloca(floats * sizeof(float)));
  for (int64_t i = 0; i < floats; i += 1024) stack[i] = 1.0F;
  multiply(A, B, C, M, N, K);
  if (stack[1024] != 1.0F) C[0] = 0;
}
