// The product in float64.
// kevo: launch reference<<<(ceildiv(N, 32), ceildiv(M, 32)), (32, 8)>>>(A, B, C, M, N, K)
__device__ __forceinline__ double real(unsigned short x) {
  return __uint_as_float(static_cast<unsigned>(x) << 16);
}
extern "C" __global__ void __launch_bounds__(256)
    reference(const unsigned short* A, const unsigned short* B, double* C, long long M, long long N, long long K) {
  __shared__ double a[32][33];
  __shared__ double b[32][33];
  const int x = threadIdx.x;
  const int y = threadIdx.y;
  const long long m0 = blockIdx.y * 32LL;
  const long long n0 = blockIdx.x * 32LL;
  double sum[4] = {};
  for (long long k0 = 0; k0 < K; k0 += 32) {
    for (int i = y; i < 32; i += 8) {
      a[i][x] = m0 + i < M && k0 + x < K ? real(A[(m0 + i) * K + k0 + x]) : 0.0;
      b[i][x] = n0 + i < N && k0 + x < K ? real(B[(n0 + i) * K + k0 + x]) : 0.0;
    }
    __syncthreads();
#pragma unroll 8
    for (int k = 0; k < 32; ++k) {
      const double right = b[x][k];
#pragma unroll
      for (int i = 0; i < 4; ++i) sum[i] += a[y + 8 * i][k] * right;
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i) {
    const long long m = m0 + y + 8 * i;
    if (m < M && n0 + x < N) C[m * N + n0 + x] = sum[i];
  }
}
