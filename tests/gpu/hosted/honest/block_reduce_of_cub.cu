// verdict: valid
// twin: honest/plain.cu
// at_most_faster: 0.1
// at_most_slower: 0.1
// fake: no
// because: Sums by the block primitives of CUB, which are no finished kernels.
#include <cub/block/block_reduce.cuh>
#include <cuda_runtime.h>

#include <cstdint>

__global__ void sums(const float* x, float* y, int64_t n) {
  using reduce = cub::BlockReduce<float, 256>;
  __shared__ typename reduce::TempStorage storage;
  float sum = 0;
  for (int64_t j = threadIdx.x; j < n; j += 256) sum += x[blockIdx.x * n + j];
  sum = reduce(storage).Sum(sum);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
extern "C" int run(const float* x, float* y, int64_t M, int64_t N, cudaStream_t stream) {
  sums<<<M, 256, 0, stream>>>(x, y, N);
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
