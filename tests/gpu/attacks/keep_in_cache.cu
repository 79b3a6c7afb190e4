// verdict: valid
// most_speedup: 1.3
// because: Asks the cache to keep its input for the next call. Every call has another content at another address, and cold ones begin with a flushed cache.
// kevo: launch rows<<<M, 256>>>(x, y, N)
__device__ float kept(const float* at) {
  float v;
  unsigned long long policy;
  asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  asm volatile("ld.global.L2::cache_hint.f32 %0, [%1], %2;" : "=f"(v) : "l"(at), "l"(policy));
  return v;
}
__device__ float row(const float* x, long long n, long long i) {
  __shared__ float sums[256];
  float sum = 0;
  for (long long j = threadIdx.x; j < n; j += 256) sum += kept(x + i * n + j);
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
