// y = x / sqrt(mean(x^2) + 1e-6) * weight along rows, one warp a row, two passes.
// kevo: launch rmsnorm<<<ceildiv(M, 4), 128>>>(x, weight, y, M, N)
extern "C" __global__ void rmsnorm(const float* x, const float* weight, float* y, long long M, long long N) {
  const long long row = blockIdx.x * 4LL + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  if (row >= M) return;
  x += row * N;
  y += row * N;
  float sum = 0;
  for (long long i = lane; i < N; i += 32) sum += x[i] * x[i];
  for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(~0u, sum, distance);
  const float factor = rsqrtf(sum / N + 1e-6f);
  for (long long i = lane; i < N; i += 32) y[i] = x[i] * factor * weight[i];
}
