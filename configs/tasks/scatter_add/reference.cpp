#include <cmath>
#include <cstdint>
#include <vector>

extern "C" void reference(const int64_t* key, const double* weight, double* sum, double* sum_scale, int64_t N, int64_t BINS) {
  std::vector<int64_t> count(static_cast<std::size_t>(BINS), 0);
  for (int64_t b = 0; b < BINS; ++b) sum[b] = sum_scale[b] = 0;
  for (int64_t i = 0; i < N; ++i) {
    sum[key[i]] += weight[i];
    sum_scale[key[i]] += std::abs(weight[i]);
    ++count[static_cast<std::size_t>(key[i])];
  }
  for (int64_t b = 0; b < BINS; ++b) sum_scale[b] *= std::sqrt(static_cast<double>(count[static_cast<std::size_t>(b)]));
}
