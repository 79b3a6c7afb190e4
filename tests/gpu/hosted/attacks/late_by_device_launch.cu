// verdict: build_failed
// compiles: no
// fake: no
// because: The late work would be launched by a kernel (dynamic parallelism), which needs relocatable device code: hosted programs are built without.
#include <cuda_runtime.h>

#include <cstdint>

__device__ float row(const float* x, long long n, long long i) {
  __shared__ float sums[256];
  float sum = 0;
  for (long long j = threadIdx.x; j < n; j += 256) sum += x[i * n + j];
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  return sums[0];
}
__global__ void rows(const float* x, float* y, long long n) {
  const float sum = row(x, n, blockIdx.x);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
__global__ void fill(float* y, long long m) {
  const long long i = blockIdx.x * 256ll + threadIdx.x;
  if (i < m) y[i] = 0.5f * (float)(i % 7) - 1;
}
__global__ void launcher(const float* x, float* y, long long m, long long n) {
  rows<<<m, 256, 0, cudaStreamFireAndForget>>>(x, y, n);
}
extern "C" int run(const float* x, float* y, int64_t M, int64_t N, cudaStream_t stream) {
  fill<<<(M + 255) / 256, 256, 0, stream>>>(y, M);
  launcher<<<1, 1, 0, stream>>>(x, y, M, N);
  return 0;
}
