// verdict: rejected
// because: Writes behind its output.
#include <cuda_runtime.h>

#include <cstdint>

__global__ void rows(const float* x, float* y, long long m, long long n) {
  const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= m) return;
  float sum = 0;
  for (long long j = 0; j < n; ++j) sum += x[i * n + j];
  y[i] = sum;
}
__global__ void touch(float* y) { y[threadIdx.x] = 1; }
extern "C" int run(const float* x, float* y, int64_t M, int64_t N, cudaStream_t stream) {
  rows<<<(M + 63) / 64, 64, 0, stream>>>(x, y, M, N);
  touch<<<1, 16, 0, stream>>>(y + M);
  return 0;
}
