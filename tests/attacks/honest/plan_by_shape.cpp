// task: matmul
// verdict: valid
// because: Remembers what depends on the shape alone: offsets of rows, keyed by the axes.
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

namespace {

std::map<std::tuple<int64_t, int64_t, int64_t>, std::vector<int64_t>> plans;

}  // namespace

extern "C" void run(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  auto& rows = plans[{M, N, K}];
  if (rows.empty()) {
    for (int64_t k = 0; k < K; ++k) rows.push_back(k * N);
  }
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t j = 0; j < N; ++j) {
      float sum = 0;
      for (int64_t k = 0; k < K; ++k) sum += A[i * K + k] * B[rows[static_cast<std::size_t>(k)] + j];
      C[i * N + j] = sum;
    }
  }
}
