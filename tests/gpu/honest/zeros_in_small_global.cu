// verdict: valid
// twin: row_sum.cu
// at_most_slower: 0.3
// because: Takes 64 KiB of a device variable to be zero, which is as much as is given its initial value before each call, and leaves other values there.
// kevo: launch rows<<<M, 256>>>(x, y, N)
__device__ float parts[64][256];
extern "C" __global__ void rows(const float* x, float* y, long long n) {
  __shared__ float sums[256];
  float sum = 0;
  for (long long j = threadIdx.x; j < n; j += 256) sum += x[blockIdx.x * n + j];
  if (blockIdx.x < 64) sum += parts[blockIdx.x][threadIdx.x]++;
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) y[blockIdx.x] = sums[0];
}
