// task: matmul
// verdict: valid
// because: Uses what C++ has: parallel-looking algorithms, inner products, valarray, unordered maps.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <unordered_map>
#include <valarray>

extern "C" void run(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  std::unordered_map<int64_t, std::valarray<float>> columns;
  for (int64_t j = 0; j < N; ++j) columns[j] = std::valarray<float>(0.0F, static_cast<std::size_t>(K));
  for (int64_t j = 0; j < N; ++j) {
    for (int64_t k = 0; k < K; ++k) columns[j][static_cast<std::size_t>(k)] = B[k * N + j];
  }
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t j = 0; j < N; ++j) {
      C[i * N + j] = std::inner_product(A + i * K, A + i * K + K, std::begin(columns[j]), 0.0F);
    }
  }
}
