// verdict: valid|launch_failed
// twin: row_sum.cu
// because: Begins with a memset of no bytes, so that its launch is not the first step and would keep its leave to overlap with the call before.
// kevo: memset y 0 0
// kevo: launch rows<<<M, 256>>>(x, y, N) pdl
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
  asm volatile("griddepcontrol.launch_dependents;");
  const float sum = row(x, n, blockIdx.x);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
