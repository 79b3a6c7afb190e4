// verdict: valid
// because: Chooses an instantiation by the size.
// kevo: when N % 4 == 0: launch rows[4]<<<M, 256>>>(x, y, N)
// kevo: when N % 4 != 0: launch rows[1]<<<M, 256>>>(x, y, N)
template <int width>
__global__ void rows(const float* x, float* y, long long n) {
  __shared__ float sums[256];
  float sum = 0;
  for (long long j = (long long)threadIdx.x * width; j < n; j += 256 * width) {
#pragma unroll
    for (int k = 0; k < width; ++k) sum += x[blockIdx.x * n + j + k];
  }
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) y[blockIdx.x] = sums[0];
}
