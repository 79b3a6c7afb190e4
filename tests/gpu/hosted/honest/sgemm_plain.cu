// verdict: valid
// task: configs/tasks/cuda_sgemm/task.yaml
// fake: no
// because: Tiles of 128 by 128 on the stream that it is given: the plain form of the products beside it.
#include <cuda_runtime.h>

#include <cstdint>

__global__ void __launch_bounds__(256) product(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float as[8][132], bs[8][128];
  const int row = 128 * blockIdx.y, column = 128 * blockIdx.x;
  const int ty = threadIdx.x / 16, tx = threadIdx.x % 16;
  float sums[8][8] = {};
  for (int at = 0; at < k; at += 8) {
    for (int e = threadIdx.x; e < 1024; e += 256) {
      const int r = e / 8, d = e % 8;
      as[d][r] = row + r < m && at + d < k ? a[(long long)(row + r) * k + at + d] : 0;
      const int d2 = e / 128, q = e % 128;
      bs[d2][q] = at + d2 < k && column + q < n ? b[(long long)(at + d2) * n + column + q] : 0;
    }
    __syncthreads();
    for (int d = 0; d < 8; ++d) {
      float left[8], right[8];
      for (int i = 0; i < 8; ++i) left[i] = as[d][ty * 8 + i];
      for (int j = 0; j < 8; ++j) right[j] = bs[d][tx + 16 * j];
      for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 8; ++j) sums[i][j] += left[i] * right[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j)
      if (row + ty * 8 + i < m && column + tx + 16 * j < n)
        c[(long long)(row + ty * 8 + i) * n + column + tx + 16 * j] = sums[i][j];
}
extern "C" int run(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K, cudaStream_t stream) {
  const dim3 grid((unsigned)((N + 127) / 128), (unsigned)((M + 127) / 128));
  product<<<grid, 256, 0, stream>>>(A, B, C, (int)M, (int)N, (int)K);
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
