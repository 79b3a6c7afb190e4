// task: matmul
// verdict: valid
// because: Uses inline assembly for its multiply-add.
#include <cstdint>

extern "C" void run(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t j = 0; j < N; ++j) {
      float sum = 0;
      for (int64_t k = 0; k < K; ++k) {
        float product = A[i * K + k];
        asm("mulss %1, %0" : "+x"(product) : "xm"(B[k * N + j]));
        asm("addss %1, %0" : "+x"(sum) : "x"(product));
      }
      C[i * N + j] = sum;
    }
  }
}
