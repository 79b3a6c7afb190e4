// In float64, one block a row.
// kevo: launch reference<<<M, 256>>>(x, y, N)
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
extern "C" __global__ void __launch_bounds__(256) reference(const float* x, double* y, long long N) {
  __shared__ double largest[256];
  x += blockIdx.x * N;
  y += blockIdx.x * N;
  double mine = x[0];
  for (long long i = threadIdx.x; i < N; i += 256) mine = fmax(mine, static_cast<double>(x[i]));
  largest[threadIdx.x] = mine;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) largest[threadIdx.x] = fmax(largest[threadIdx.x], largest[threadIdx.x + half]);
    __syncthreads();
  }
  double sum = 0;
  for (long long i = threadIdx.x; i < N; i += 256) sum += exp(x[i] - largest[0]);
  sum = block_sum(sum);
  for (long long i = threadIdx.x; i < N; i += 256) y[i] = exp(x[i] - largest[0]) / sum;
}
