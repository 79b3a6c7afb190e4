// verdict: valid
// because: Waits for the whole grid in the middle, by a cooperative launch and a counter in a workspace.
// kevo: workspace counter int32 [1]
// kevo: workspace part float32 [M]
// kevo: memset counter 0
// kevo: launch rows<<<min(M, device.sms), 256>>>(x, y, part, counter, N, M) cooperative
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
extern "C" __global__ void rows(const float* x, float* y, float* part, int* counter, long long n, long long m) {
  for (long long i = blockIdx.x; i < m; i += gridDim.x) {
    const float sum = row(x, n, i);
    if (threadIdx.x == 0) part[i] = sum;
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(counter, 1);
    while (*(volatile int*)counter < (int)gridDim.x) {}
    __threadfence();
  }
  __syncthreads();
  for (long long i = blockIdx.x * 256ll + threadIdx.x; i < m; i += gridDim.x * 256ll) y[i] = *(volatile float*)(part + i);
}
