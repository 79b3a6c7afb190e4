// task: matmul
// verdict: build_failed|launch_failed
// because: Has no function of the right name.
#include <cstdint>

extern "C" void walk(const float*, const float*, float* C, int64_t M, int64_t N, int64_t) {
  for (int64_t i = 0; i < M * N; ++i) C[i] = 0;
}
