// kevo: launch scale_reference<<<ceildiv(N, 256), 256>>>(x, y, N)
extern "C" __global__ void scale_reference(const float* x, double* y, long long n) {
  const long long i = 256ll * blockIdx.x + threadIdx.x;
  if (i < n) y[i] = 2.0 * x[i];
}
