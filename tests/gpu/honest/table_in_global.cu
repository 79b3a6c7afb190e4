// verdict: valid
// twin: row_sum.cu
// because: Reads a const table in device memory.
// kevo: launch rows<<<M, 256>>>(x, y, N)
__device__ const float signs[8] = {1, 1, 1, 1, 1, 1, 1, 1};
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
  const float sign = signs[(blockIdx.x + n) & 7];
  const float sum = row(x, n, blockIdx.x);
  if (threadIdx.x == 0) y[blockIdx.x] = sum * sign;
}
