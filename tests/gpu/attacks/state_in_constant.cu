// verdict: valid|crashed
// twin: row_sum.cu
// because: Writes to constant memory through a generic address. Were it not restored before each call, its sums would be wrong.
// kevo: launch rows<<<M, 256>>>(x, y, N)
// kevo: launch count<<<1, 1>>>(y)
// kevo: launch change<<<1, 1>>>()
__constant__ int kept[16] = {5, 6, 7};
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
extern "C" __global__ void count(float* y) {
  const volatile int* through = (const volatile int*)kept;
  if (kept[threadIdx.x + 1] != 6 || through[2] != 7 || through[9] != 0) y[0] = 1e30f;
}
extern "C" __global__ void change() {
  volatile int* through = (volatile int*)kept;
  through[1] = 60;
  through[2] = 70;
  through[9] = 90;
}
