// task: matmul
// verdict: timed_out|crashed|incorrect|rejected
// because: Sleeps for a quarter of an hour.
#include <cstdint>
#include <ctime>

extern "C" void run(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  static_cast<void>(A), static_cast<void>(B), static_cast<void>(C), static_cast<void>(M),
      static_cast<void>(N), static_cast<void>(K);
  timespec long_time{900, 0};
  nanosleep(&long_time, nullptr);
  for (int64_t i = 0; i < M * N; ++i) C[i] = 0;
}
