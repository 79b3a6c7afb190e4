// task: matmul large_matmul@2
// verdict: rejected|incorrect|crashed
// because: Starts a thread (pthread_create) that does the work and returns without waiting for it. Threads
//   beyond the configured number are denied.
#include <cstdint>
#include <pthread.h>

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
  static struct {
    const float* a;
    const float* b;
    float* c;
    int64_t m, n, k;
  } work;
  work = {A, B, C, M, N, K};
  pthread_t thread;
  const auto body = [](void*) -> void* {
    multiply(work.a, work.b, work.c, work.m, work.n, work.k);
    return nullptr;
  };
  if (pthread_create(&thread, nullptr, body, nullptr) == 0) pthread_detach(thread);
}
