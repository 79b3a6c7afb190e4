// verdict: valid
// twin: row_sum.cu
// because: Calls sin and pow in double precision, which bring tables and constants of the compiler. At few rows alone, so that
// it takes as long as its plain form where it is timed.
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
    const double s = sin((double)sum), p = pow(1.5 + s, 0.25);
    y[blockIdx.x] = p > 0.1 ? sum : -sum;
  }
}
