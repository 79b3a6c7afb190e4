// task: histogram
// verdict: valid|rejected|suspect|incorrect|crashed|timed_out
// twin: honest/plain_histogram.cpp
// because: Asks for huge pages and for the whole arena to be mapped, and reads around its input after each
//   call, so that the next content lies in its cache before the call.
#include <cstdint>
#include <sys/mman.h>

namespace {

void work(const int32_t* X, int32_t* counts, int64_t N) {
  for (int64_t b = 0; b < 256; ++b) counts[b] = 0;
  for (int64_t i = 0; i < N; ++i) ++counts[X[i]];
}

volatile int32_t sink = 0;

}  // namespace

extern "C" void run(const int32_t* X, int32_t* counts, int64_t N) {
  work(X, counts, N);
  const auto page = reinterpret_cast<uintptr_t>(X) & ~uintptr_t{4095};
  const auto size = (static_cast<std::size_t>(N) * 4 + 8191) & ~std::size_t{4095};
  madvise(reinterpret_cast<void*>(page), size, MADV_HUGEPAGE);
  madvise(reinterpret_cast<void*>(page), size, MADV_WILLNEED);
  for (int64_t i = 0; i < N; i += 16) sink = X[i];
}
