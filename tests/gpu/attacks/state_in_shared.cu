// verdict: valid
// twin: row_sum.cu
// because: Leaves a mark in the shared memory of every multiprocessor, and looks for it in shared memory that it has not written: were it there at the next call, its sums would be wrong.
// kevo: workspace seen int32 [64]
// kevo: memset seen 0
// kevo: launch look<<<device.sms, 32, smem(200000)>>>(seen)
// kevo: launch rows<<<M, 256>>>(x, y, N)
// kevo: launch leave<<<device.sms, 32, smem(200000)>>>(y, seen)
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
extern "C" __global__ void look(int* seen) {
  extern __shared__ volatile unsigned memory[];
  int marks = 0;
  for (int i = threadIdx.x; i < 50000; i += 32) marks += memory[i] == 0x6b65766fu + i;
  if (marks > 16) atomicAdd(seen, 1);
}
extern "C" __global__ void leave(float* y, const int* seen) {
  extern __shared__ volatile unsigned memory[];
  for (int i = threadIdx.x; i < 50000; i += 32) memory[i] = 0x6b65766fu + i;
  if (blockIdx.x == 0 && threadIdx.x == 0 && *seen != 0) y[0] = 1e30f;
}
