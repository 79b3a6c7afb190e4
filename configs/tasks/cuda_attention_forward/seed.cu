// Attention, a warp a query: a lane holds four elements of the head, and the warp walks over the keys one by one.
// kevo: launch attention<<<(ceildiv(S, 4), H, B), 128>>>(q, k, v, o, H, G, S, mask)
__device__ __forceinline__ float real(unsigned short x) { return __uint_as_float(static_cast<unsigned>(x) << 16); }
__device__ __forceinline__ unsigned short rounded(float x) {
  const unsigned bits = __float_as_uint(x);
  return static_cast<unsigned short>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

extern "C" __global__ void __launch_bounds__(128)
    attention(const unsigned short* q, const unsigned short* k, const unsigned short* v, unsigned short* o, int H, int G, int S,
              int mask) {
  const int i = blockIdx.x * 4 + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  if (i >= S) return;
  const long long at = ((static_cast<long long>(blockIdx.z) * H + blockIdx.y) * S + i) * 128 + lane * 4;
  const long long keys = (static_cast<long long>(blockIdx.z) * G + blockIdx.y / (H / G)) * S * 128 + lane * 4;
  float query[4];
  for (int u = 0; u < 4; ++u) query[u] = real(q[at + u]);
  float sum[4] = {};
  float total = 0.0f;
  float largest = -1e30f;
  const int last = mask == 2 ? i + 1 : S;
  for (int j = 0; j < last; ++j) {
    float score = 0.0f;
    for (int u = 0; u < 4; ++u) score += query[u] * real(k[keys + j * 128LL + u]);
    for (int other = 16; other > 0; other /= 2) score += __shfl_xor_sync(~0u, score, other);
    score *= 0.088388347648f;  // 1 / sqrt(128)
    const float most = fmaxf(largest, score);
    const float rescale = expf(largest - most);
    const float weight = expf(score - most);
    largest = most;
    total = total * rescale + weight;
    for (int u = 0; u < 4; ++u) sum[u] = sum[u] * rescale + weight * real(v[keys + j * 128LL + u]);
  }
  for (int u = 0; u < 4; ++u) o[at + u] = rounded(sum[u] / total);
}
