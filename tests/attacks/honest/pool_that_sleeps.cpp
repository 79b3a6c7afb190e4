// task: matmul@2
// verdict: valid
// because: Keeps a thread from call to call, which sleeps while there is nothing to do.
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
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

class helper {
 public:
  void begin(std::function<void()> work) {
    {
      const std::lock_guard hold(lock_);
      work_ = std::move(work);
    }
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock hold(lock_);
    changed_.wait(hold, [this] { return !work_; });
  }

 private:
  void serve(const std::stop_token& stop) {
    std::unique_lock hold(lock_);
    while (changed_.wait(hold, stop, [this] { return static_cast<bool>(work_); })) {
      work_();
      work_ = nullptr;
      changed_.notify_all();
    }
  }

  std::mutex lock_;
  std::condition_variable_any changed_;
  std::function<void()> work_;
  std::jthread thread_{[this](const std::stop_token& stop) { serve(stop); }};
};

}  // namespace

extern "C" void run(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  static helper other;
  other.begin([=] { rows(A, B, C, M / 2, M, N, K); });
  rows(A, B, C, 0, M / 2, N, K);
  other.wait();
}
