// verdict: valid
// twin: honest/two_launches.cu
// at_most_slower: 0.05
// at_most_faster: 0.6
// because: Two launches, the second programmatic and waiting as it must: within a call that is its right.
// kevo: workspace part float32 [M]
// kevo: launch rows<<<M, 256>>>(x, part, N)
// kevo: launch copy<<<ceildiv(M, 256), 256>>>(part, y, M) pdl
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
extern "C" __global__ void copy(const float* part, float* y, long long m) {
  asm volatile("griddepcontrol.wait;" ::: "memory");
  const long long i = blockIdx.x * 256ll + threadIdx.x;
  if (i < m) y[i] = part[i];
}
