// task: matmul
// verdict: crashed
// because: Executes an instruction that no machine has.
#include <cstdint>

extern "C" void run(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  static_cast<void>(A), static_cast<void>(B), static_cast<void>(C), static_cast<void>(M),
      static_cast<void>(N), static_cast<void>(K);
  __builtin_trap();
}
