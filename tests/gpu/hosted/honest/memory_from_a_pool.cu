// verdict: valid
// fake: no
// because: Takes its scratch memory from a stream-ordered pool in each call and gives it back there.
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
__global__ void parts(const float* x, float* part, long long n) {
  const float sum = row(x, n, blockIdx.x);
  if (threadIdx.x == 0) part[blockIdx.x] = sum;
}
__global__ void copy(const float* part, float* y, long long m) {
  const long long i = blockIdx.x * 256ll + threadIdx.x;
  if (i < m) y[i] = part[i];
}
extern "C" int run(const float* x, float* y, int64_t M, int64_t N, cudaStream_t stream) {
  float* part = nullptr;
  if (cudaMallocAsync(&part, M * sizeof(float), stream) != cudaSuccess) return 1;
  parts<<<M, 256, 0, stream>>>(x, part, N);
  copy<<<(M + 255) / 256, 256, 0, stream>>>(part, y, M);
  cudaFreeAsync(part, stream);
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
