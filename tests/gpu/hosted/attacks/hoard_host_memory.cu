// verdict: launch_failed
// because: Takes all memory of the host that it can get, so that others would be killed for want of it: it gets its share and no more.
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdlib>

extern "C" int run(const float*, float*, int64_t, int64_t, cudaStream_t) {
  constexpr std::size_t block = std::size_t{1} << 28;
  for (std::size_t taken = 0; taken < (std::size_t{1} << 34); taken += block) {
    void* kept = std::malloc(block);
    if (kept == nullptr) return 1;
    static_cast<volatile char*>(kept)[0] = 1;
  }
  return 0;
}
