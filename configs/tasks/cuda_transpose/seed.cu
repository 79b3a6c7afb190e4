// y = transpose(x), one thread an element: reads run along rows, writes do not.
// kevo: launch transpose<<<(ceildiv(N, 32), min(ceildiv(M, 8), 65535)), (32, 8)>>>(x, y, M, N)
extern "C" __global__ void transpose(const float* x, float* y, long long M, long long N) {
  const long long n = blockIdx.x * 32LL + threadIdx.x;
  if (n >= N) return;
  for (long long m = blockIdx.y * 8LL + threadIdx.y; m < M; m += gridDim.y * 8LL) y[n * M + m] = x[m * N + n];
}
