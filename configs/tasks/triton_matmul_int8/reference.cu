// The product with an exact sum, scaled in float64.
// kevo: launch reference<<<(ceildiv(N, 32), ceildiv(M, 32)), (32, 8)>>>(A, B, a, b, C, M, N, K)
extern "C" __global__ void __launch_bounds__(256)
    reference(const signed char* A, const signed char* B, const float* a, const float* b, double* C, long long M, long long N,
              long long K) {
  __shared__ int left[32][33];
  __shared__ int right[32][33];
  const int x = threadIdx.x;
  const int y = threadIdx.y;
  const long long m0 = blockIdx.y * 32LL;
  const long long n0 = blockIdx.x * 32LL;
  long long sum[4] = {};
  for (long long k0 = 0; k0 < K; k0 += 32) {
    for (int i = y; i < 32; i += 8) {
      left[i][x] = m0 + i < M && k0 + x < K ? A[(m0 + i) * K + k0 + x] : 0;
      right[i][x] = n0 + i < N && k0 + x < K ? B[(n0 + i) * K + k0 + x] : 0;
    }
    __syncthreads();
    int part[4] = {};
#pragma unroll 8
    for (int k = 0; k < 32; ++k) {
#pragma unroll
      for (int i = 0; i < 4; ++i) part[i] += left[y + 8 * i][k] * right[x][k];
    }
    for (int i = 0; i < 4; ++i) sum[i] += part[i];
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i) {
    const long long m = m0 + y + 8 * i;
    if (m < M && n0 + x < N)
      C[m * N + n0 + x] = static_cast<double>(a[m]) * static_cast<double>(b[n0 + x]) * static_cast<double>(sum[i]);
  }
}
