// verdict: valid
// because: Writes parts to a workspace and adds them up in a second kernel.
// kevo: workspace part float32 [M, 4]
// kevo: launch parts<<<(M, 4), 256>>>(x, part, N)
// kevo: launch add<<<ceildiv(M, 256), 256>>>(part, y, M)
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
extern "C" __global__ void parts(const float* x, float* part, long long n) {
  __shared__ float sums[8];
  float sum = 0;
  const long long first = n * blockIdx.y / 4, last = n * (blockIdx.y + 1) / 4;
  for (long long j = first + threadIdx.x; j < last; j += 256) sum += x[blockIdx.x * n + j];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 1; i < 8; ++i) sum += sums[i];
    part[blockIdx.x * 4 + blockIdx.y] = sum;
  }
}
extern "C" __global__ void add(const float* part, float* y, long long m) {
  const long long i = blockIdx.x * 256ll + threadIdx.x;
  if (i < m) y[i] = part[4 * i] + part[4 * i + 1] + part[4 * i + 2] + part[4 * i + 3];
}
