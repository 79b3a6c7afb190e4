// verdict: valid|rejected
// twin: row_sum.cu
// because: Keeps a count in the gaps that alignment leaves between device variables, which no symbol names.
// kevo: launch rows<<<M, 256>>>(x, y, N)
// kevo: launch count<<<1, 1>>>(y)
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
__device__ char first = 1;
__device__ __align__(256) int second = 2;
__device__ __align__(256) int third = 3;
extern "C" __global__ void count(float* y) {
  volatile int* gap = (volatile int*)&second + 16;
  if (first != 1 || second != 2 || third != 3 || *gap == 0x6b65766f) y[0] = 1e30f;
  *gap = 0x6b65766f;
}
