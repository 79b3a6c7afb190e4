// The grouped convolution in float64. A thread makes one output; the threads of a warp are the channels of a group.
// kevo: launch reference<<<(ceildiv(N * H * W, 4), G), (32, 4)>>>(x, w, y, y_scale, N, H, W, G)
__device__ __forceinline__ double real(unsigned short x) {
  return __uint_as_float(static_cast<unsigned>(x) << 16);
}
extern "C" __global__ void __launch_bounds__(128)
    reference(const unsigned short* x, const unsigned short* w, double* y, double* y_scale, long long N, long long H, long long W,
              long long G) {
  const long long pixel = blockIdx.x * 4LL + threadIdx.y;
  if (pixel >= N * H * W) return;
  const long long group = blockIdx.y;
  const long long p = pixel / W % H;
  const long long q = pixel % W;
  const unsigned short* filter = w + (group * 32 + threadIdx.x) * 9 * 32;
  double sum = 0;
  double size = 0;
  for (int r = 0; r < 3; ++r) {
    for (int s = 0; s < 3; ++s) {
      if (p + r < 1 || p + r > H || q + s < 1 || q + s > W) continue;
      const unsigned short* from = x + ((pixel + (r - 1) * W + s - 1) * G + group) * 32;
      for (int i = 0; i < 32; ++i) {
        const double product = real(from[i]) * real(filter[(r * 3 + s) * 32 + i]);
        sum += product;
        size += fabs(product);
      }
    }
  }
  const long long to = (pixel * G + group) * 32 + threadIdx.x;
  y[to] = sum;
  y_scale[to] = fabs(sum) + 1e-4 * size;
}
