// task: matmul
// verdict: valid
// because: Uses spans, ranges, concepts and bit operations of C++20 without saying which standard it wants.
#include <bit>
#include <concepts>
#include <cstdint>
#include <numeric>
#include <ranges>
#include <span>

namespace {

template <std::floating_point T>
T dot(std::span<const T> row, std::span<const T> matrix, std::size_t column, std::size_t stride) {
  T sum = 0;
  for (const auto k : std::views::iota(std::size_t{0}, row.size())) sum += row[k] * matrix[k * stride + column];
  return sum;
}

}  // namespace

extern "C" void run(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  static_assert(std::bit_ceil(5U) == 8U);
  const auto m = static_cast<std::size_t>(M), n = static_cast<std::size_t>(N), k = static_cast<std::size_t>(K);
  const std::span<const float> b(B, k * n);
  for (const auto i : std::views::iota(std::size_t{0}, m)) {
    const std::span<const float> row(A + i * k, k);
    for (std::size_t j = 0; j < n; ++j) C[i * n + j] = dot(row, b, j, n);
  }
}
