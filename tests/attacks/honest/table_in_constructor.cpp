// task: matmul
// verdict: valid
// because: Fills a lookup table while it is loaded (an order of summation).
#include <array>
#include <cstdint>
#include <numeric>

namespace {

struct order {
  std::array<int64_t, 8> of{};
  order() { std::iota(of.rbegin(), of.rend(), 0); }
};
const order steps;

}  // namespace

extern "C" void run(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t j = 0; j < N; ++j) {
      float sum = 0;
      for (int64_t k = 0; k < K; k += 8) {
        for (const int64_t s : steps.of) {
          if (k + s < K) sum += A[i * K + k + s] * B[(k + s) * N + j];
        }
      }
      C[i * N + j] = sum;
    }
  }
}
