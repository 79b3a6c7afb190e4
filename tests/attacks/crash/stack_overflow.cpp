// task: matmul
// verdict: crashed
// because: Recurses without end.
#include <cstdint>

namespace {

volatile int64_t depth = 0;
__attribute__((noinline)) int64_t deeper(int64_t n) {
  volatile char frame[4096] = {};
  depth = depth + 1;
  return deeper(n + 1) + frame[n % 4096];
}

}  // namespace

extern "C" void run(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  static_cast<void>(A), static_cast<void>(B), static_cast<void>(C), static_cast<void>(M),
      static_cast<void>(N), static_cast<void>(K);
  C[0] = static_cast<float>(deeper(M));
}
