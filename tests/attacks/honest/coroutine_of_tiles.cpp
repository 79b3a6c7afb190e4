// task: matmul
// verdict: valid
// because: Hands out its tiles by a coroutine.
#include <algorithm>
#include <coroutine>
#include <cstdint>
#include <exception>
#include <utility>

namespace {

struct tiles {
  struct promise_type {
    std::pair<int64_t, int64_t> now;
    tiles get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(std::pair<int64_t, int64_t> at) {
      now = at;
      return {};
    }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
  std::coroutine_handle<promise_type> handle;
  ~tiles() { handle.destroy(); }
  bool next() { return handle.resume(), !handle.done(); }
};

constexpr int64_t side = 16;

tiles all_tiles(int64_t M, int64_t N) {
  for (int64_t i = 0; i < M; i += side) {
    for (int64_t j = 0; j < N; j += side) co_yield std::pair(i, j);
  }
}

}  // namespace

extern "C" void run(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  auto work = all_tiles(M, N);
  while (work.next()) {
    const auto [i0, j0] = work.handle.promise().now;
    for (int64_t i = i0; i < std::min(M, i0 + side); ++i) {
      for (int64_t j = j0; j < std::min(N, j0 + side); ++j) {
        float sum = 0;
        for (int64_t k = 0; k < K; ++k) sum += A[i * K + k] * B[k * N + j];
        C[i * N + j] = sum;
      }
    }
  }
}
