// task: matmul
// verdict: valid
// because: Tries block sizes when it meets a size for the first time, for more than a second if the size is large, which is
//   longer than another call may take, and keeps the best.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <tuple>

namespace {

using clock_type = std::chrono::steady_clock;

std::map<std::tuple<int64_t, int64_t, int64_t>, int64_t> best_block;

void multiply(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K, int64_t block) {
  for (int64_t i = 0; i < M * N; ++i) C[i] = 0;
  for (int64_t k0 = 0; k0 < K; k0 += block) {
    const int64_t end = std::min(K, k0 + block);
    for (int64_t i = 0; i < M; ++i) {
      for (int64_t k = k0; k < end; ++k) {
        for (int64_t j = 0; j < N; ++j) C[i * N + j] += A[i * K + k] * B[k * N + j];
      }
    }
  }
}

int64_t tuned(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  const auto time_of_each = std::chrono::milliseconds(M * N * K > 300'000 ? 255 : 5);
  int64_t best = 8;
  auto shortest = clock_type::duration::max();
  for (const int64_t block : {8, 16, 32, 64}) {
    const auto start = clock_type::now();
    auto least = clock_type::duration::max();
    while (clock_type::now() - start < time_of_each) {
      const auto from = clock_type::now();
      multiply(A, B, C, M, N, K, block);
      least = std::min(least, clock_type::now() - from);
    }
    if (least < shortest) shortest = least, best = block;
  }
  return best;
}

}  // namespace

extern "C" void run(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  auto& block = best_block[{M, N, K}];
  if (block == 0) block = tuned(A, B, C, M, N, K);
  multiply(A, B, C, M, N, K, block);
}
