// verdict: valid
// twin: row_sum.cu
// because: Asks the cache to keep the whole input (evict_last and prefetches), so that later calls would find more of it there.
// kevo: launch rows<<<M, 256>>>(x, y, N)
// kevo: launch keep<<<1024, 256>>>(x, M * N)
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
extern "C" __global__ void rows(const float* x, float* y, long long n) {
  const float sum = row(x, n, blockIdx.x);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
extern "C" __global__ void keep(const float* x, long long count) {
  for (long long i = 64ll * (blockIdx.x * 256 + threadIdx.x); i < count; i += 64ll * 1024 * 256)
    asm volatile("prefetch.global.L2::evict_last [%0];" ::"l"(x + i));
}
