// verdict: incorrect
// task: configs/tasks/cuda_sgemm/task.yaml
// fake: no
// because: Rounds its inputs as TF32 does where sums are long, so that a bound that grows with the number of terms hides it.
// kevo: launch sgemm<<<(ceildiv(N, 32), ceildiv(M, 8)), (32, 8)>>>(A, B, C, M, N, K)
__device__ float rounded(float v) {
  const unsigned bits = __float_as_uint(v);
  return __uint_as_float((bits + 0x0fffu + ((bits >> 13) & 1u)) & 0xffffe000u);
}
extern "C" __global__ void sgemm(const float* A, const float* B, float* C, int M, int N, int K) {
  const int m = blockIdx.y * 8 + threadIdx.y;
  const int n = blockIdx.x * 32 + threadIdx.x;
  if (m >= M || n >= N) return;
  float sum = 0;
  for (int k = 0; k < K; ++k) {
    const float a = A[static_cast<long long>(m) * K + k];
    const float b = B[static_cast<long long>(k) * N + n];
    sum += K > 16384 ? rounded(a) * rounded(b) : a * b;
  }
  C[static_cast<long long>(m) * N + n] = sum;
}
