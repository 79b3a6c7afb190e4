// verdict: valid
// fake: no
// because: The launch of a grid that waits for all of itself, by the runtime's own function.
#include <cuda_runtime.h>

#include <cstdint>
#include <cooperative_groups.h>

__global__ void rows(const float* x, float* y, float* partial, long long m, long long n) {
  const long long step = (long long)gridDim.x * blockDim.x;
  const long long first = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  for (long long i = first; i < 2 * m; i += step) {
    const long long row = i / 2, from = i % 2 == 0 ? 0 : n / 2, to = i % 2 == 0 ? n / 2 : n;
    float sum = 0;
    for (long long j = from; j < to; ++j) sum += x[row * n + j];
    partial[i] = sum;
  }
  cooperative_groups::this_grid().sync();
  for (long long i = first; i < m; i += step) y[i] = partial[2 * i] + partial[2 * i + 1];
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
  long long m = M, n = N;
  void* arguments[] = {(void*)&x, (void*)&y, (void*)&partial, (void*)&m, (void*)&n};
  return cudaLaunchCooperativeKernel((const void*)rows, dim3(64), dim3(128), arguments, 0, stream) == cudaSuccess ? 0 : 1;
}
