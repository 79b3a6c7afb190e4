// verdict: timed_out
// because: Never answers.
#include <cuda_runtime.h>

#include <cstdint>
#include <unistd.h>

extern "C" int run(const float*, float*, int64_t, int64_t, cudaStream_t) {
  for (;;) usleep(1000);
}
