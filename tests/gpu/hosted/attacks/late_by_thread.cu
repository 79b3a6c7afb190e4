// verdict: rejected|incorrect|valid|launch_failed|crashed|timed_out
// twin: honest/plain.cu
// fake: no
// because: A thread of the host launches the work after run has answered.
#include <cuda_runtime.h>
#include <pthread.h>
#include <unistd.h>

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
struct call {
  const float* x;
  float* y;
  long long m, n;
};
void* work(void* what) {
  const call c = *(call*)what;
  usleep(100);
  rows<<<c.m, 256, 0, cudaStreamPerThread>>>(c.x, c.y, c.n);
  return nullptr;
}
extern "C" int run(const float* x, float* y, int64_t M, int64_t N, cudaStream_t stream) {
  static call c;
  c = {x, y, M, N};
  fill<<<(M + 255) / 256, 256, 0, stream>>>(y, M);
  pthread_t one;
  return pthread_create(&one, nullptr, work, &c);
}
