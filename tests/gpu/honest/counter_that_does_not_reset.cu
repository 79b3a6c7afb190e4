// verdict: valid
// twin: honest/counter_that_resets_itself.cu
// at_most_faster: 0.3
// because: The same, but it takes the counter to be zero when a call begins, as it is.
// kevo: launch rows<<<M, 256>>>(x, y, N)
__device__ unsigned next;
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
  if (threadIdx.x == 0) y[taken] = sum;
}
