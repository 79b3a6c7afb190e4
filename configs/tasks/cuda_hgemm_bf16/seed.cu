// C = A transpose(B), one thread an element, without tensor cores: tiles of A and B go through shared memory.
// kevo: launch hgemm<<<(ceildiv(N, 32), ceildiv(M, 32)), (32, 32)>>>(A, B, C, M, N, K)
__device__ __forceinline__ float real(unsigned short x) { return __uint_as_float(static_cast<unsigned>(x) << 16); }
__device__ __forceinline__ unsigned short rounded(float x) {
  unsigned short result;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(result) : "f"(x));
  return result;
}
extern "C" __global__ void __launch_bounds__(1024)
    hgemm(const unsigned short* A, const unsigned short* B, unsigned short* C, int M, int N, int K) {
  __shared__ float a[32][33];
  __shared__ float b[32][33];
  const int x = threadIdx.x;
  const int y = threadIdx.y;
  const int m = blockIdx.y * 32 + y;
  const int n = blockIdx.x * 32 + y;  // the row of B that this thread copies
  float sum = 0;
  for (int k = x; k < K + x; k += 32) {
    a[y][x] = m < M && k < K ? real(A[static_cast<long long>(m) * K + k]) : 0;
    b[y][x] = n < N && k < K ? real(B[static_cast<long long>(n) * K + k]) : 0;
    __syncthreads();
    for (int i = 0; i < 32; ++i) sum += a[y][i] * b[x][i];
    __syncthreads();
  }
  const int column = blockIdx.x * 32 + x;
  if (m < M && column < N) C[static_cast<long long>(m) * N + column] = rounded(sum);
}
