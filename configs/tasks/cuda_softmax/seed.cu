// y = softmax(x) along rows, one warp a row, three passes.
// kevo: launch softmax<<<ceildiv(M, 4), 128>>>(x, y, M, N)
extern "C" __global__ void softmax(const float* x, float* y, long long M, long long N) {
  const long long row = blockIdx.x * 4LL + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  if (row >= M) return;
  x += row * N;
  y += row * N;
  float largest = x[0];
  for (long long i = lane; i < N; i += 32) largest = fmaxf(largest, x[i]);
  for (int distance = 16; distance > 0; distance /= 2) largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, distance));
  float sum = 0;
  for (long long i = lane; i < N; i += 32) sum += expf(x[i] - largest);
  for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(~0u, sum, distance);
  for (long long i = lane; i < N; i += 32) y[i] = expf(x[i] - largest) / sum;
}
