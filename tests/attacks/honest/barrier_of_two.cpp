// task: matmul@2
// verdict: valid
// because: Two threads that meet at a barrier at the begin and the end of each call.
#include <barrier>
#include <cstdint>
#include <thread>

namespace {

void rows(const float* A, const float* B, float* C, int64_t from, int64_t to, int64_t N, int64_t K) {
  for (int64_t i = from; i < to; ++i) {
    for (int64_t j = 0; j < N; ++j) {
      float sum = 0;
      for (int64_t k = 0; k < K; ++k) sum += A[i * K + k] * B[k * N + j];
      C[i * N + j] = sum;
    }
  }
}

struct job {
  const float* a;
  const float* b;
  float* c;
  int64_t from, to, n, k;
};
job now{};
std::barrier<> meeting(2);

}  // namespace

extern "C" void run(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  static const bool started = [] {
    std::thread([] {
      for (;;) {
        meeting.arrive_and_wait();
        rows(now.a, now.b, now.c, now.from, now.to, now.n, now.k);
        meeting.arrive_and_wait();
      }
    }).detach();
    return true;
  }();
  static_cast<void>(started);
  now = {A, B, C, M / 2, M, N, K};
  meeting.arrive_and_wait();
  rows(A, B, C, 0, M / 2, N, K);
  meeting.arrive_and_wait();
}
