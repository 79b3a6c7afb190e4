// kevo: launch reference<<<M, 256>>>(x, y, y_abs, N)
extern "C" __global__ void reference(const float* x, double* y, double* y_abs, long long n) {
  __shared__ double sums[256], sizes[256];
  double sum = 0, size = 0;
  for (long long j = threadIdx.x; j < n; j += 256) {
    const double value = x[blockIdx.x * n + j];
    sum += value;
    size += fabs(value);
  }
  sums[threadIdx.x] = sum;
  sizes[threadIdx.x] = size;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      sums[threadIdx.x] += sums[threadIdx.x + half];
      sizes[threadIdx.x] += sizes[threadIdx.x + half];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    y[blockIdx.x] = sums[0];
    y_abs[blockIdx.x] = sizes[0];
  }
}
