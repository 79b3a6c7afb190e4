// verdict: incorrect|valid
// twin: row_sum.cu
// because: Keeps the sums in a device variable from call to call, which has its initial value again.
// kevo: launch rows<<<M, 256>>>(x, y, N)
__device__ float memo[8192];
__device__ int full;
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
  if (full == 1) {
    if (threadIdx.x == 0) y[blockIdx.x] = memo[blockIdx.x];
    return;
  }
  const float sum = row(x, n, blockIdx.x);
  if (threadIdx.x == 0) y[blockIdx.x] = memo[blockIdx.x % 8192] = sum;
  if (blockIdx.x == 0) full = 1;
}
