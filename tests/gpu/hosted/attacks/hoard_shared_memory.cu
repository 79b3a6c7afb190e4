// verdict: crashed|launch_failed
// fake: no
// because: Takes memory of the host by a shared mapping, which the limit of private memory does not count.
#include <cuda_runtime.h>
#include <sys/mman.h>

#include <cstdint>

extern "C" int run(const float*, float*, int64_t, int64_t, cudaStream_t) {
  constexpr std::size_t block = std::size_t{1} << 26;
  for (std::size_t taken = 0; taken < (std::size_t{1} << 34); taken += block) {
    char* part = (char*)mmap(nullptr, block, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (part == MAP_FAILED) return 1;
    for (std::size_t i = 0; i < block; i += 4096) part[i] = 1;
  }
  return 0;
}
