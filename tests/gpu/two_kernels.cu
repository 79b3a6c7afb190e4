// Two kernels that are launched alike: what the second one needs of the first lies in a workspace.
// kevo: workspace gate float32 [N]
// kevo: launch sigmoid<<<ceildiv(N, 256), 256>>>(x, gate, N)
// kevo: launch gated<<<ceildiv(N, 256), 256>>>(gate, x, z, y, N)
extern "C" __global__ void sigmoid(const float* from, float* to, long long count) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= count) return;
  to[i] = 1 / (1 + expf(-from[i]));
}
extern "C" __global__ void gated(const float* gate, const float* x, const float* z, float* y, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= n) return;
  y[i] = x[i] * gate[i] + z[i];
}
