// verdict: valid
// because: Partial sums in memory of its own, which it keeps from call to call.
#include <cuda_runtime.h>

#include <cstdint>

__global__ void halves(const float* x, float* partial, long long m, long long n) {
  const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= 2 * m) return;
  const long long row = i / 2, from = i % 2 == 0 ? 0 : n / 2, to = i % 2 == 0 ? n / 2 : n;
  float sum = 0;
  for (long long j = from; j < to; ++j) sum += x[row * n + j];
  partial[i] = sum;
}
__global__ void join(const float* partial, float* y, long long m) {
  const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < m) y[i] = partial[2 * i] + partial[2 * i + 1];
}
extern "C" int run(const float* x, float* y, int64_t M, int64_t N, cudaStream_t stream) {
  static float* partial = nullptr;
  static int64_t held = 0;
  if (held < 2 * M) {
    cudaFree(partial);
    held = 0;
    if (cudaMalloc(&partial, 2 * M * sizeof(float)) != cudaSuccess) return 1;
    held = 2 * M;
  }
  halves<<<(2 * M + 63) / 64, 64, 0, stream>>>(x, partial, M, N);
  join<<<(M + 63) / 64, 64, 0, stream>>>(partial, y, M);
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
