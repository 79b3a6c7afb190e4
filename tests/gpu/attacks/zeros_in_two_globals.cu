// verdict: rejected
// twin: honest/zeros_in_workspace.cu
// because: Two arrays of 40 KB that are taken to be zero: each is small enough, both together are not.
// kevo: launch rows<<<M, 256>>>(x, y, N)
static __device__ float even[10000];
static __device__ float odd[10000];
extern "C" __global__ void rows(const float* x, float* y, long long n) {
  __shared__ float sums[256];
  float sum = 0;
  for (long long j = threadIdx.x; j < n; j += 256) sum += x[blockIdx.x * n + j];
  if (blockIdx.x < 78) {
    float* part = (blockIdx.x % 2 == 0 ? even : odd) + blockIdx.x / 2 * 256;
    sum += part[threadIdx.x]++;
  }
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) y[blockIdx.x] = sums[0];
}
