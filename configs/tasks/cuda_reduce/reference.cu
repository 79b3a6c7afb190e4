// The sum in float64, and the sum of absolute values that scales the tolerance.
// kevo: workspace parts float64 [2, 1024]
// kevo: launch add_parts<<<1024, 256>>>(x, parts, N)
// kevo: launch add_all<<<1, 256>>>(parts, sum, sum_abs)
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
extern "C" __global__ void __launch_bounds__(256) add_parts(const float* x, double* parts, long long N) {
  double sum = 0;
  double size = 0;
  for (long long i = blockIdx.x * 256LL + threadIdx.x; i < N; i += 1024 * 256) {
    sum += x[i];
    size += fabs(static_cast<double>(x[i]));
  }
  sum = block_sum(sum);
  size = block_sum(size);
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = sum;
    parts[1024 + blockIdx.x] = size;
  }
}
extern "C" __global__ void __launch_bounds__(256) add_all(const double* parts, double* sum, double* sum_abs) {
  double total = 0;
  double size = 0;
  for (int i = threadIdx.x; i < 1024; i += 256) {
    total += parts[i];
    size += parts[1024 + i];
  }
  total = block_sum(total);
  size = block_sum(size);
  if (threadIdx.x == 0) {
    *sum = total;
    *sum_abs = size;
  }
}
