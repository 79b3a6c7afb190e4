// The sum of all elements: every thread adds what it meets on its way through memory, every block its threads' sums, a
// second kernel the blocks' sums.
// kevo: workspace parts float32 [1024]
// kevo: launch add_parts<<<1024, 128>>>(x, parts, N, 1024)
// kevo: launch add_parts<<<1, 128>>>(parts, sum, 1024, 1)
extern "C" __global__ void add_parts(const float* x, float* to, long long n, int blocks) {
  __shared__ float sums[128];
  float sum = 0;
  for (long long i = blockIdx.x * 128LL + threadIdx.x; i < n; i += blocks * 128LL) sum += x[i];
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) to[blockIdx.x] = sums[0];
}
