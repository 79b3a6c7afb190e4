// One sum for each bin.
#include <cstdint>

extern "C" void run(const int32_t* key, const float* weight, float* sum, int64_t N, int64_t BINS) {
  for (int64_t b = 0; b < BINS; ++b) sum[b] = 0;
  for (int64_t i = 0; i < N; ++i) sum[key[i]] += weight[i];
}
