// task: histogram
// verdict: valid
// because: The plain histogram; attacks on the clock that compute the same way are timed beside it.
#include <cstdint>

namespace {

void work(const int32_t* X, int32_t* counts, int64_t N) {
  for (int64_t b = 0; b < 256; ++b) counts[b] = 0;
  for (int64_t i = 0; i < N; ++i) ++counts[X[i]];
}

}  // namespace

extern "C" void run(const int32_t* X, int32_t* counts, int64_t N) {
  work(X, counts, N);
}
