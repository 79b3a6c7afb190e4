// Several sums for each bin, so that equal keys near each other do not wait for each other; added up at the end. 40 settings.
#include <cstdint>
#include <cstring>

// kevo: begin tables
#define TABLES 1       // kevo: {1, 2, 4, 8}
#define INTERLEAVED 0  // kevo: {0, 1}
// kevo: end tables

// kevo: begin reading
constexpr int unroll = 1;  // kevo: {1, 2, 4, 8, 16}
// kevo: end reading

namespace {

constexpr int64_t most_bins = 1 << 15;
alignas(64) float table[TABLES * most_bins];

inline float& place(int64_t bin, int64_t number, int64_t bins) {
  return table[INTERLEAVED != 0 ? bin * TABLES + number : number * bins + bin];
}

}  // namespace

extern "C" void run(const int32_t* key, const float* weight, float* sum, int64_t N, int64_t BINS) {
  if (BINS > most_bins || N < BINS) {  // not worth the tables, or too many for them
    std::memset(sum, 0, static_cast<std::size_t>(BINS) * sizeof(float));
    for (int64_t i = 0; i < N; ++i) sum[key[i]] += weight[i];
    return;
  }
  std::memset(table, 0, static_cast<std::size_t>(TABLES * BINS) * sizeof(float));
  int64_t i = 0;
#pragma GCC unroll unroll
  for (; i + TABLES <= N; i += TABLES) {
#pragma GCC unroll 8
    for (int t = 0; t < TABLES; ++t) place(key[i + t], t, BINS) += weight[i + t];
  }
  for (; i < N; ++i) place(key[i], 0, BINS) += weight[i];
  for (int64_t b = 0; b < BINS; ++b) {
    float all = 0;
    for (int t = 0; t < TABLES; ++t) all += place(b, t, BINS);
    sum[b] = all;
  }
}
