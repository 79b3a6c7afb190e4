// verdict: valid
// twin: row_sum.cu
// because: Calls sinf and cosf, whose slow path reads a table of the compiler in device memory. At few rows alone, so that it
// takes as long as its plain form where it is timed.
// kevo: launch rows<<<M, 256>>>(x, y, N)
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
  if (threadIdx.x == 0 && gridDim.x >= 100) {
    y[blockIdx.x] = sum;
  } else if (threadIdx.x == 0) {
    const float s = sinf(sum), c = cosf(sum);
    y[blockIdx.x] = sum * (s * s + c * c > 0.5f ? 1.0f : 2.0f);
  }
}
