// y = softmax(x) along rows, one thread a row.
// kevo: launch softmax<<<ceildiv(M, 128), 128>>>(x, y, M, N)
extern "C" __global__ void softmax(const float* x, float* y, int M, int N) {
  const int row = blockIdx.x * 128 + threadIdx.x;
  if (row >= M) return;
  const float* from = x + static_cast<long long>(row) * N;
  float* to = y + static_cast<long long>(row) * N;
  float largest = from[0];
  for (int i = 0; i < N; ++i) largest = fmaxf(largest, from[i]);
  double sum = 0;  // one thread adds up long rows
  for (int i = 0; i < N; ++i) sum += expf(from[i] - largest);
  const float factor = 1 / sum;
  for (int i = 0; i < N; ++i) to[i] = expf(from[i] - largest) * factor;
}
