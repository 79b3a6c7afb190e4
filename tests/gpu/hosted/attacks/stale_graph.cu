// verdict: incorrect|rejected|crashed
// fake: no
// because: Captures its first call in a graph and replays that, pointers and all, for every later one.
#include <cuda_runtime.h>

#include <cstdint>

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
__global__ void rows(const float* x, float* y, long long n) {
  const float sum = row(x, n, blockIdx.x);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
extern "C" int run(const float* x, float* y, int64_t M, int64_t N, cudaStream_t stream) {
  static cudaGraphExec_t ready[2] = {};
  static int64_t sizes[2] = {};
  static int known = 0;
  int which = -1;
  for (int k = 0; k < known; ++k) which = sizes[k] == M ? k : which;
  if (which < 0 && known < 2) {
    cudaStream_t recorder;
    cudaGraph_t graph;
    cudaStreamCreateWithFlags(&recorder, cudaStreamNonBlocking);
    cudaStreamBeginCapture(recorder, cudaStreamCaptureModeThreadLocal);
    rows<<<M, 256, 0, recorder>>>(x, y, N);
    cudaStreamEndCapture(recorder, &graph);
    cudaGraphInstantiate(&ready[known], graph, 0);
    sizes[known] = M;
    which = known++;
  }
  if (which < 0) {
    rows<<<M, 256, 0, stream>>>(x, y, N);
    return 0;
  }
  return cudaGraphLaunch(ready[which], stream) == cudaSuccess ? 0 : 1;
}
