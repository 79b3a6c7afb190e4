// task: matmul
// verdict: build_failed
// never_says: root:
// because: Includes a file of the machine, to read it in the compiler's messages.
#include <cstdint>

#include "/etc/passwd"

extern "C" void run(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  for (int64_t i = 0; i < M * N; ++i) C[i] = 0;
  static_cast<void>(A), static_cast<void>(B), static_cast<void>(C), static_cast<void>(M),
      static_cast<void>(N), static_cast<void>(K);
}
