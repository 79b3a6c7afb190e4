// y = x / sqrt(mean(x^2) + 1e-6) * weight along rows, one thread a row.
// kevo: launch rmsnorm<<<ceildiv(M, 128), 128>>>(x, weight, y, M, N)
extern "C" __global__ void rmsnorm(const float* x, const float* weight, float* y, int M, int N) {
  const int row = blockIdx.x * 128 + threadIdx.x;
  if (row >= M) return;
  const float* from = x + static_cast<long long>(row) * N;
  float* to = y + static_cast<long long>(row) * N;
  double sum = 0;  // one thread adds up long rows
  for (int i = 0; i < N; ++i) sum += from[i] * from[i];
  const float factor = rsqrt(sum / N + 1e-6);
  for (int i = 0; i < N; ++i) to[i] = from[i] * factor * weight[i];
}
