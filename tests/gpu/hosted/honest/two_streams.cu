// verdict: valid
// because: Halves of the rows on two streams, joined by events before run answers.
#include <cuda_runtime.h>

#include <cstdint>

__global__ void rows(const float* x, float* y, long long m, long long n) {
  const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= m) return;
  float sum = 0;
  for (long long j = 0; j < n; ++j) sum += x[i * n + j];
  y[i] = sum;
}
struct joined {
  cudaStream_t side = nullptr;
  cudaEvent_t begin = nullptr, end = nullptr;
  joined() {
    cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&begin, cudaEventDisableTiming);
    cudaEventCreateWithFlags(&end, cudaEventDisableTiming);
  }
};
extern "C" int run(const float* x, float* y, int64_t M, int64_t N, cudaStream_t stream) {
  static joined all;
  const int64_t half = M / 2;
  cudaEventRecord(all.begin, stream);
  cudaStreamWaitEvent(all.side, all.begin, 0);
  if (half > 0) rows<<<(half + 63) / 64, 64, 0, all.side>>>(x, y, half, N);
  cudaEventRecord(all.end, all.side);
  rows<<<(M - half + 63) / 64, 64, 0, stream>>>(x + half * N, y + half, M - half, N);
  cudaStreamWaitEvent(stream, all.end, 0);
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
