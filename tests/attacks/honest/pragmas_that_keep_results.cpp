// task: matmul
// verdict: valid
// because: Asks for options that change no result beyond what every program may, also by macros.
#include <cstdint>

#define JOIN(a, b) a##b
#define ASK(x) _Pragma(#x)
ASK(GCC optimize("O3", "unroll-loops"))
#pragma GCC optimize("no-trapping-math,no-math-errno", "fp-contract=fast")

__attribute__((JOIN(opti, mize)("no-tree-loop-distribute-patterns"))) static const char* optimize(const char* text) {
  return text;
}

extern "C" void run(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t j = 0; j < N; ++j) {
      float sum = 0;
      for (int64_t k = 0; k < K; ++k) sum += A[i * K + k] * B[k * N + j];
      C[i * N + j] = sum;
    }
  }
  static_cast<void>(optimize("Ofast is a word of this text, not an option"));
}
