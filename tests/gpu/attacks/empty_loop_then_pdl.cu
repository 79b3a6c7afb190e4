// verdict: valid|launch_failed
// twin: row_sum.cu
// because: The steps before its early launch are those of a loop that runs no time, and of conditions that never hold.
// kevo: for i in 0..0: memset y 0
// kevo: when M < 0: launch idle<<<1, 32>>>()
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
extern "C" __global__ void idle() {}
extern "C" __global__ void rows(const float* x, float* y, long long n) {
  asm volatile("griddepcontrol.launch_dependents;");
  const float sum = row(x, n, blockIdx.x);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
