// Counts in 64-bit integers.
#include <cstdint>

extern "C" void reference(const int64_t* X, int64_t* counts, int64_t N) {
  for (int64_t b = 0; b < 256; ++b) counts[b] = 0;
  for (int64_t i = 0; i < N; ++i) ++counts[X[i]];
}
