// y = conv2d(x, w) without padding, one thread an output element.
// kevo: launch conv2d<<<(ceildiv(P * Q, 128), K, N), 128>>>(x, w, y, C, H, W, K, R, S, P, Q, stride)
extern "C" __global__ void conv2d(const float* x, const float* w, float* y, int C, int H, int W, int K, int R, int S, int P,
                                  int Q, int stride) {
  const int pixel = blockIdx.x * 128 + threadIdx.x;
  if (pixel >= P * Q) return;
  const int p = pixel / Q;
  const int q = pixel % Q;
  float sum = 0;
  for (int c = 0; c < C; ++c) {
    const float* plane = x + (static_cast<long long>(blockIdx.z) * C + c) * H * W;
    const float* filter = w + (static_cast<long long>(blockIdx.y) * C + c) * R * S;
    for (int r = 0; r < R; ++r) {
      for (int s = 0; s < S; ++s) sum += plane[(p * stride + r) * W + q * stride + s] * filter[r * S + s];
    }
  }
  y[(static_cast<long long>(blockIdx.z) * K + blockIdx.y) * P * Q + pixel] = sum;
}
