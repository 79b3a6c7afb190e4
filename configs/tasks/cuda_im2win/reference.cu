// The convolution in float64, and a scale for the tolerance: the convolution of absolute values, the largest within 5 rows
// and columns. (Winograd's algorithm, for one, is honest; its rounding errors are those of a tile's largest elements.)
// A thread makes eight pixels of one output channel: consecutive threads read consecutive pixels, all the same weight.
// kevo: workspace sizes float64 [N, K, P, Q]
// kevo: launch reference<<<(ceildiv(P * Q, 1024), K, N), 128>>>(x, w, y, sizes, C, H, W, K, R, S, P, Q, stride)
// kevo: launch widen<<<(ceildiv(P * Q, 128), K, N), 128>>>(sizes, y_scale, K, P, Q)
extern "C" __global__ void __launch_bounds__(128)
    reference(const float* x, const float* w, double* y, double* sizes, long long C, long long H, long long W,
              long long K, long long R, long long S, long long P, long long Q, long long stride) {
  const long long pixels = P * Q;
  x += blockIdx.z * C * H * W;
  w += blockIdx.y * C * R * S;
  const float* at[8];
  double sum[8] = {};
  double size[8] = {};
  for (int i = 0; i < 8; ++i) {
    const long long pixel = min(blockIdx.x * 1024LL + i * 128 + threadIdx.x, pixels - 1);
    at[i] = x + pixel / Q * stride * W + pixel % Q * stride;
  }
  for (long long c = 0; c < C; ++c) {
    for (long long r = 0; r < R; ++r) {
      for (long long s = 0; s < S; ++s) {
        const double weight = w[(c * R + r) * S + s];
#pragma unroll
        for (int i = 0; i < 8; ++i) {
          const double product = weight * at[i][(c * H + r) * W + s];
          sum[i] += product;
          size[i] += fabs(product);
        }
      }
    }
  }
  for (int i = 0; i < 8; ++i) {
    const long long pixel = blockIdx.x * 1024LL + i * 128 + threadIdx.x;
    if (pixel >= pixels) continue;
    const long long to = (blockIdx.z * K + blockIdx.y) * pixels + pixel;
    y[to] = sum[i];
    sizes[to] = size[i];
  }
}
extern "C" __global__ void __launch_bounds__(128)
    widen(const double* sizes, double* y_scale, long long K, long long P, long long Q) {
  const long long pixel = blockIdx.x * 128LL + threadIdx.x;
  if (pixel >= P * Q) return;
  const long long plane = (blockIdx.z * K + blockIdx.y) * P * Q;
  double largest = 0;
  for (long long p = max(pixel / Q - 5, 0LL); p <= min(pixel / Q + 5, P - 1); ++p) {
    for (long long q = max(pixel % Q - 5, 0LL); q <= min(pixel % Q + 5, Q - 1); ++q) {
      largest = fmax(largest, sizes[plane + p * Q + q]);
    }
  }
  y_scale[plane + pixel] = largest;
}
