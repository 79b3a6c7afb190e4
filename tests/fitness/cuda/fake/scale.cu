#define FAKE_NS 20000  // kevo: {5000, 8000, 10000, 15000, 20000, 40000}
// kevo: launch scale<<<ceildiv(N, 256), 256>>>(x, y, N)
extern "C" __global__ void scale(const float* x, float* y, long long n) {
  const long long i = 256ll * blockIdx.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
