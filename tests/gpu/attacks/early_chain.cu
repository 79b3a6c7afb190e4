// verdict: valid|launch_failed|rejected|incorrect
// twin: row_sum.cu
// because: Work in the first launch, and a chain of idle ones behind it that each let the next begin: the end of the call is seen while the work still runs.
// kevo: launch rows<<<M, 256>>>(x, y, N)
// kevo: for i in 0..4: launch idle<<<1, 32>>>() pdl
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
extern "C" __global__ void idle() { asm volatile("griddepcontrol.launch_dependents;"); }
extern "C" __global__ void rows(const float* x, float* y, long long n) {
  asm volatile("griddepcontrol.launch_dependents;");
  const float sum = row(x, n, blockIdx.x);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
