// Attention with a shared prompt, a warp a query: a lane holds four elements of the head, and the warp walks over the keys one by
// one, first those of the prompt, then those of the query's own response.
// kevo: launch attention<<<(ceildiv(P + T, 4), H), 128>>>(q, k, v, offsets, o, lse, H, G, P, N, P + T)
#define FLOAT16 0  // 1: float16 instead of bfloat16; a task sets it (docs/tasks.md, `define`)
__device__ __forceinline__ float real(unsigned short x) {
#if FLOAT16
  float y;
  asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x));
  return y;
#else
  return __uint_as_float(static_cast<unsigned>(x) << 16);
#endif
}
__device__ __forceinline__ unsigned short rounded(float x) {
#if FLOAT16
  unsigned short y;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y) : "f"(x));
  return y;
#else
  const unsigned bits = __float_as_uint(x);
  return static_cast<unsigned short>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
#endif
}

extern "C" __global__ void __launch_bounds__(128)
    attention(const unsigned short* q, const unsigned short* k, const unsigned short* v, const int* offsets, unsigned short* o,
              float* lse, int H, int G, int P, int N, int rows) {
  const int i = blockIdx.x * 4 + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const int head = blockIdx.y;
  if (i >= rows) return;
  int own = 0;
  for (int s = 0; s < N && i >= P; ++s) {
    if (P + offsets[s] <= i) own = P + offsets[s];
  }
  const long long at = (static_cast<long long>(i) * H + head) * 128 + lane * 4;
  const long long keys = head / (H / G) * 128 + lane * 4;
  float query[4];
  for (int u = 0; u < 4; ++u) query[u] = real(q[at + u]);
  float sum[4] = {};
  float total = 0.0f;
  float largest = -1e30f;
  const auto see = [&](int j) {
    const long long key = keys + j * 128LL * G;
    float score = 0.0f;
    for (int u = 0; u < 4; ++u) score += query[u] * real(k[key + u]);
    for (int other = 16; other > 0; other /= 2) score += __shfl_xor_sync(~0u, score, other);
    score *= 0.088388347648f;  // 1 / sqrt(128)
    const float most = fmaxf(largest, score);
    const float rescale = expf(largest - most);
    const float weight = expf(score - most);
    largest = most;
    total = total * rescale + weight;
    for (int u = 0; u < 4; ++u) sum[u] = sum[u] * rescale + weight * real(v[key + u]);
  };
  for (int j = 0; j < min(P, i + 1); ++j) see(j);
  for (int j = max(own, P); j <= i; ++j) see(j);
  for (int u = 0; u < 4; ++u) o[at + u] = rounded(sum[u] / total);
  if (lane == 0) lse[static_cast<long long>(head) * rows + i] = largest + logf(total);
}
