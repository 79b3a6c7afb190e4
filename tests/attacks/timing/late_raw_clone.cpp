// task: matmul large_matmul@2
// verdict: rejected|incorrect|crashed
// because: Starts a thread by the clone system call itself, sharing memory, and returns without waiting for
//   it.
#include <cstdint>
#include <sched.h>
#include <sys/mman.h>

namespace {

struct work {
  const float* a;
  const float* b;
  float* c;
  int64_t m, n, k;
};
work now{};

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
  now = {A, B, C, M, N, K};
  static char stack[65536];
  const auto body = [](void*) -> int {
    multiply(now.a, now.b, now.c, now.m, now.n, now.k);
    return 0;
  };
  clone(body, stack + sizeof stack - 64,
        CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM, nullptr);
}
