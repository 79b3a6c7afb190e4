// kevo: launch reference<<<ceildiv(N, 256), 256>>>(x, z, y, N)
extern "C" __global__ void reference(const float* x, const float* z, double* y, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n) y[i] = x[i] / (1 + exp(-static_cast<double>(x[i]))) + z[i];
}
