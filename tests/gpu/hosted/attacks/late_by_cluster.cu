// verdict: rejected|incorrect|valid|launch_failed|crashed|timed_out
// twin: honest/plain.cu
// fake: no
// because: The late work is launched in clusters, whose blocks take a row each and wait for one another.
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
__global__ void fill(float* y, long long m) {
  const long long i = blockIdx.x * 256ll + threadIdx.x;
  if (i < m) y[i] = 0.5f * (float)(i % 7) - 1;
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
__global__ void together(const float* x, float* y, long long n, long long m) {
  const long long i = blockIdx.x;
  const float sum = i < m ? row(x, n, i) : 0;
  if (threadIdx.x == 0 && i < m) y[i] = sum;
  asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
}
extern "C" int run(const float* x, float* y, int64_t M, int64_t N, cudaStream_t stream) {
  static late all;
  fill<<<(M + 255) / 256, 256, 0, stream>>>(y, M);
  all.after(stream);
  cudaLaunchAttribute cluster = {};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim.x = 8;
  cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
  cudaLaunchConfig_t how = {};
  how.gridDim = dim3((unsigned)((M + 7) / 8 * 8));
  how.blockDim = dim3(256);
  how.stream = all.side;
  how.attrs = &cluster;
  how.numAttrs = 1;
  return cudaLaunchKernelEx(&how, together, x, y, (long long)N, (long long)M) == cudaSuccess ? 0 : 1;
}
