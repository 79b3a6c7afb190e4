// verdict: valid
// twin: row_sum.cu
// at_most_faster: 0.1
// at_most_slower: 0.6
// because: Blocks take their rows from a counter in a device variable, which the last one sets to zero again.
// kevo: launch rows<<<M, 256>>>(x, y, N)
__device__ unsigned next, done;
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
  __shared__ unsigned taken;
  if (threadIdx.x == 0) taken = atomicAdd(&next, 1);
  __syncthreads();
  const float sum = row(x, n, taken);
  if (threadIdx.x == 0) {
    y[taken] = sum;
    __threadfence();
    if (atomicAdd(&done, 1) == gridDim.x - 1) next = done = 0;
  }
}
