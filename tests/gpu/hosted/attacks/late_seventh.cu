// verdict: rejected|incorrect|valid|launch_failed|crashed|timed_out
// twin: honest/plain.cu
// fake: no
// because: Computes six of seven rows in time, fills the others with rubbish, and computes them on a stream of its own.
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
__global__ void most(const float* x, float* y, long long n) {
  if (blockIdx.x % 7 == 3) {
    if (threadIdx.x == 0) y[blockIdx.x] = 2;
    return;
  }
  const float sum = row(x, n, blockIdx.x);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
__global__ void rest(const float* x, float* y, long long n) {
  const long long i = 7ll * blockIdx.x + 3;
  const float sum = row(x, n, i);
  if (threadIdx.x == 0) y[i] = sum;
}
extern "C" int run(const float* x, float* y, int64_t M, int64_t N, cudaStream_t stream) {
  static late all;
  most<<<M, 256, 0, stream>>>(x, y, N);
  all.after(stream);
  if (M > 3) rest<<<(M + 3) / 7, 256, 0, all.side>>>(x, y, N);
  return 0;
}
