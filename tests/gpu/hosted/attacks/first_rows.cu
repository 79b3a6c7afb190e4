// verdict: incorrect
// because: Leaves out the last row of every call but the first of its process.
#include <cuda_runtime.h>

#include <cstdint>

__global__ void rows(const float* x, float* y, long long m, long long n) {
  const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= m) return;
  float sum = 0;
  for (long long j = 0; j < n; ++j) sum += x[i * n + j];
  y[i] = sum;
}
extern "C" int run(const float* x, float* y, int64_t M, int64_t N, cudaStream_t stream) {
  static int64_t calls = 0;
  const int64_t rest = calls++ == 0 || M == 1 ? M : M - 1;
  rows<<<(M + 63) / 64, 64, 0, stream>>>(x, y, rest, N);
  return 0;
}
