// In float64, one block a row.
// kevo: launch reference<<<M, 256>>>(x, weight, y, N)
__device__ double block_sum(double value) {
  __shared__ double parts[256];
  __syncthreads();
  parts[threadIdx.x] = value;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
    __syncthreads();
  }
  return parts[0];
}
extern "C" __global__ void __launch_bounds__(256)
    reference(const float* x, const float* weight, double* y, long long N) {
  x += blockIdx.x * N;
  y += blockIdx.x * N;
  double sum = 0;
  for (long long i = threadIdx.x; i < N; i += 256) sum += static_cast<double>(x[i]) * x[i];
  const double factor = 1 / sqrt(block_sum(sum) / N + 1e-6);
  for (long long i = threadIdx.x; i < N; i += 256) y[i] = x[i] * factor * weight[i];
}
