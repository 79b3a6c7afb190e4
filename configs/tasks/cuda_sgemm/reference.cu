// The product in float64, and the product of absolute values that scales the tolerance.
// kevo: launch reference<<<(ceildiv(N, 32), ceildiv(M, 32)), (32, 8)>>>(A, B, C, C_abs, M, N, K)
extern "C" __global__ void __launch_bounds__(256)
    reference(const float* A, const float* B, double* C, double* C_abs, long long M, long long N, long long K) {
  __shared__ double a[32][33];
  __shared__ double b[32][33];
  const int x = threadIdx.x;
  const int y = threadIdx.y;
  const long long m0 = blockIdx.y * 32LL;
  const long long n0 = blockIdx.x * 32LL;
  double sum[4] = {};
  double size[4] = {};
  for (long long k0 = 0; k0 < K; k0 += 32) {
    for (int i = y; i < 32; i += 8) {
      a[i][x] = m0 + i < M && k0 + x < K ? A[(m0 + i) * K + k0 + x] : 0.0;
      b[i][x] = k0 + i < K && n0 + x < N ? B[(k0 + i) * N + n0 + x] : 0.0;
    }
    __syncthreads();
#pragma unroll 8
    for (int k = 0; k < 32; ++k) {
      const double right = b[k][x];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const double product = a[y + 8 * i][k] * right;  // exact: 24 bits times 24 bits
        sum[i] += product;
        size[i] += fabs(product);
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i) {
    const long long m = m0 + y + 8 * i;
    if (m < M && n0 + x < N) {
      C[m * N + n0 + x] = sum[i];
      C_abs[m * N + n0 + x] = size[i];
    }
  }
}
