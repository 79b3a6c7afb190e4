// verdict: incorrect
// because: Answers that all is well and does nothing.
#include <cuda_runtime.h>

#include <cstdint>

extern "C" int run(const float*, float*, int64_t, int64_t, cudaStream_t) {
  return 0;
}
