// verdict: rejected|incorrect|valid|launch_failed|crashed|timed_out
// twin: honest/plain.cu
// fake: no
// because: Writes rubbish to one word of every 32 bytes, says done, and computes on a stream of its own.
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
struct late {
  cudaStream_t side = nullptr;
  cudaEvent_t filled = nullptr;
  late() {
    cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&filled, cudaEventDisableTiming);
  }
  void after(cudaStream_t stream) {
    cudaEventRecord(filled, stream);
    cudaStreamWaitEvent(side, filled, 0);
  }
};
__global__ void words(float* y, long long m) {
  const long long i = 8 * (blockIdx.x * 256ll + threadIdx.x);
  if (i < m) y[i] = 1;
}
extern "C" int run(const float* x, float* y, int64_t M, int64_t N, cudaStream_t stream) {
  static late all;
  words<<<(M + 2047) / 2048, 256, 0, stream>>>(y, M);
  all.after(stream);
  rows<<<M, 256, 0, all.side>>>(x, y, N);
  return 0;
}
