// C = A B, one thread an element.
// kevo: launch sgemm<<<(ceildiv(N, 32), ceildiv(M, 8)), (32, 8)>>>(A, B, C, M, N, K)
extern "C" __global__ void sgemm(const float* A, const float* B, float* C, int M, int N, int K) {
  const int m = blockIdx.y * 8 + threadIdx.y;
  const int n = blockIdx.x * 32 + threadIdx.x;
  if (m >= M || n >= N) return;
  float sum = 0;
  for (int k = 0; k < K; ++k) sum += A[static_cast<long long>(m) * K + k] * B[static_cast<long long>(k) * N + n];
  C[static_cast<long long>(m) * N + n] = sum;
}
