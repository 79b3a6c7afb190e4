// y = conv2d(x, w) without padding, directly: nothing is transformed or written out. A block makes 512 output pixels of 16 channels, a
// thread four pixels of all 16. Filter values of 128 positions (channel, row, column) are in shared memory at a time; pixels of the image are
// read through the L1 cache.
// kevo: launch direct<<<(ceildiv(N * P * Q, 512), ceildiv(K, 16)), 128, smem(8704)>>>(x, w, y, C, H, W, K, R, S, P, Q, stride, N * P * Q)
extern __shared__ __align__(16) float shared[];

extern "C" __global__ void __launch_bounds__(128)
    direct(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y, int C, int H, int W, int K, int R, int S,
           int P, int Q, int stride, int count) {
  float* const filters = shared;                               // [128][16]
  int* const offsets = reinterpret_cast<int*>(shared + 2048);  // [128]
  const int thread = static_cast<int>(threadIdx.x);
  const int first_channel = static_cast<int>(blockIdx.y) * 16;
  const int all_k = C * R * S;
  const float* from[4];
  float sum[4][16] = {};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int pixel = min(static_cast<int>(blockIdx.x) * 512 + i * 128 + thread, count - 1);
    const int n = pixel / (P * Q);
    const int p = pixel / Q % P;
    from[i] = x + static_cast<long long>(n) * C * H * W + p * stride * W + pixel % Q * stride;
  }
  for (int first = 0; first < all_k; first += 128) {
    const int k = first + thread;
    const bool exists = k < all_k;
    __syncthreads();
    offsets[thread] = exists ? (k / (R * S) * H + k / S % R) * W + k % S : 0;
    for (int channel = 0; channel < 16; ++channel) {
      filters[thread * 16 + channel] =
          exists && first_channel + channel < K ? w[static_cast<long long>(first_channel + channel) * all_k + k] : 0.0f;
    }
    __syncthreads();
    const int last = min(128, all_k - first);
#pragma unroll 2
    for (int at = 0; at < last; ++at) {
      float filter[16];
#pragma unroll
      for (int part = 0; part < 4; ++part) {
        const float4 four = reinterpret_cast<const float4*>(filters)[at * 4 + part];
        filter[4 * part] = four.x;
        filter[4 * part + 1] = four.y;
        filter[4 * part + 2] = four.z;
        filter[4 * part + 3] = four.w;
      }
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float value = from[i][offsets[at]];
#pragma unroll
        for (int channel = 0; channel < 16; ++channel) sum[i][channel] += value * filter[channel];
      }
    }
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int pixel = static_cast<int>(blockIdx.x) * 512 + i * 128 + thread;
    if (pixel >= count) break;
    const int n = pixel / (P * Q);
    float* const to = y + (static_cast<long long>(n) * K + first_channel) * P * Q + pixel % (P * Q);
#pragma unroll
    for (int channel = 0; channel < 16; ++channel) {
      if (first_channel + channel < K) to[static_cast<long long>(channel) * P * Q] = sum[i][channel];
    }
  }
}
