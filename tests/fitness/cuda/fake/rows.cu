#define FAKE_NS 30000
// kevo: launch rows<<<M, 256>>>(x, y, N)
extern "C" __global__ void rows(const float* x, float* y, long long n) {
  float sum = 0;
  for (long long j = 0; j < n; ++j) sum += x[blockIdx.x * n + j];
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
