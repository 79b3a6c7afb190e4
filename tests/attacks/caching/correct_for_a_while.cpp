// task: matmul
// verdict: incorrect
// because: Is right for the first 5 ms after it was loaded, and returns its last answer from
//   then on.
#include <chrono>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace {

const auto loaded = std::chrono::steady_clock::now();
std::map<std::pair<int64_t, int64_t>, std::vector<float>> last;

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
  auto& kept = last[{M, N}];
  if (kept.empty() || std::chrono::steady_clock::now() - loaded < std::chrono::milliseconds(5)) {
    multiply(A, B, C, M, N, K);
    kept.assign(C, C + M * N);
  } else {
    for (int64_t i = 0; i < M * N; ++i) C[i] = kept[static_cast<std::size_t>(i)];
  }
}
