// verdict: valid
// because: Keeps rows in 100 KB of dynamic shared memory.
// kevo: launch rows<<<M, 256, 102400>>>(x, y, N)
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
extern __shared__ float held[];
extern "C" __global__ void rows(const float* x, float* y, long long n) {
  float sum = 0;
  for (long long j = threadIdx.x; j < n; j += 256) {
    held[j % 25600] = x[blockIdx.x * n + j];
    sum += held[j % 25600];
  }
  __syncthreads();
  held[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 1; i < 256; ++i) sum += held[i];
    y[blockIdx.x] = sum;
  }
}
