// Gradients of attention with a shared prompt, a warp a row: a lane holds four elements of the head, and the warp walks over what its
// row sees (queries), or what sees it (keys), one by one.
// kevo: workspace lse float32 [H, P + T]
// kevo: workspace delta float32 [H, P + T]
// kevo: launch forward<<<(ceildiv(P + T, 4), H), 128>>>(q, k, v, d_o, offsets, lse, delta, H, G, P, N, P + T)
// kevo: launch of_queries<<<(ceildiv(P + T, 4), H), 128>>>(q, k, v, d_o, offsets, lse, delta, dq, H, G, P, N, P + T)
// kevo: launch of_keys<<<(ceildiv(P + T, 4), G), 128>>>(q, k, v, d_o, offsets, lse, delta, dk, dv, H, G, P, N, P + T)
#define FLOAT16 0  // 1: float16 instead of bfloat16; a task sets it (docs/tasks.md, `define`)
constexpr float root = 0.088388347648f;  // 1 / sqrt(128)

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

struct four {
  float x[4];
};
__device__ __forceinline__ four load(const unsigned short* from) {
  four made;
  for (int u = 0; u < 4; ++u) made.x[u] = real(from[u]);
  return made;
}
__device__ __forceinline__ void store(unsigned short* to, const four& f, float factor) {
  for (int u = 0; u < 4; ++u) to[u] = rounded(f.x[u] * factor);
}
__device__ __forceinline__ float product(const four& a, const four& b) {
  float sum = 0.0f;
  for (int u = 0; u < 4; ++u) sum += a.x[u] * b.x[u];
  for (int other = 16; other > 0; other /= 2) sum += __shfl_xor_sync(~0u, sum, other);
  return sum;
}
__device__ __forceinline__ void add(four& to, float factor, const four& f) {
  for (int u = 0; u < 4; ++u) to.x[u] += factor * f.x[u];
}
__device__ __forceinline__ int begin_of(const int* offsets, int P, int N, int row) {
  int from = P;
  for (int s = 0; s < N && row >= P; ++s) {
    if (P + offsets[s] <= row) from = P + offsets[s];
  }
  return from;
}

extern "C" __global__ void __launch_bounds__(128)
    forward(const unsigned short* q, const unsigned short* k, const unsigned short* v, const unsigned short* d_o, const int* offsets,
            float* lse, float* delta, int H, int G, int P, int N, int rows) {
  const int i = blockIdx.x * 4 + threadIdx.x / 32;
  const int head = blockIdx.y;
  if (i >= rows) return;
  const int lane = threadIdx.x % 32 * 4;
  const long long at = (static_cast<long long>(i) * H + head) * 128 + lane;
  const long long keys = head / (H / G) * 128 + lane;
  const four query = load(q + at);
  four sum = {};
  float total = 0.0f;
  float largest = -1e30f;
  const auto see = [&](int j) {
    const float score = product(query, load(k + keys + j * 128LL * G)) * root;
    const float most = fmaxf(largest, score);
    const float rescale = expf(largest - most);
    const float weight = expf(score - most);
    largest = most;
    total = total * rescale + weight;
    for (int u = 0; u < 4; ++u) sum.x[u] *= rescale;
    add(sum, weight, load(v + keys + j * 128LL * G));
  };
  for (int j = 0; j < min(P, i + 1); ++j) see(j);
  for (int j = begin_of(offsets, P, N, i); j <= i; ++j) see(j);
  const float both = product(sum, load(d_o + at)) / total;
  if (lane == 0) {
    lse[static_cast<long long>(head) * rows + i] = largest + logf(total);
    delta[static_cast<long long>(head) * rows + i] = both;
  }
}

extern "C" __global__ void __launch_bounds__(128)
    of_queries(const unsigned short* q, const unsigned short* k, const unsigned short* v, const unsigned short* d_o,
               const int* offsets, const float* lse, const float* delta, unsigned short* dq, int H, int G, int P, int N, int rows) {
  const int i = blockIdx.x * 4 + threadIdx.x / 32;
  const int head = blockIdx.y;
  if (i >= rows) return;
  const int lane = threadIdx.x % 32 * 4;
  const long long at = (static_cast<long long>(i) * H + head) * 128 + lane;
  const long long keys = head / (H / G) * 128 + lane;
  const four query = load(q + at);
  const four gradient = load(d_o + at);
  const float shift = lse[static_cast<long long>(head) * rows + i];
  const float mean = delta[static_cast<long long>(head) * rows + i];
  four sum = {};
  const auto see = [&](int j) {
    const four key = load(k + keys + j * 128LL * G);
    const float p = expf(product(query, key) * root - shift);
    add(sum, p * (product(gradient, load(v + keys + j * 128LL * G)) - mean), key);
  };
  for (int j = 0; j < min(P, i + 1); ++j) see(j);
  for (int j = begin_of(offsets, P, N, i); j <= i; ++j) see(j);
  store(dq + at, sum, root);
}

extern "C" __global__ void __launch_bounds__(128)
    of_keys(const unsigned short* q, const unsigned short* k, const unsigned short* v, const unsigned short* d_o, const int* offsets,
            const float* lse, const float* delta, unsigned short* dk, unsigned short* dv, int H, int G, int P, int N, int rows) {
  const int j = blockIdx.x * 4 + threadIdx.x / 32;
  if (j >= rows) return;
  const int lane = threadIdx.x % 32 * 4;
  const long long to = (static_cast<long long>(j) * G + blockIdx.y) * 128 + lane;
  const four key = load(k + to);
  const four value = load(v + to);
  int end = rows;  // behind the last query that sees this key
  for (int s = N - 1; s >= 0 && j >= P; --s) {
    if (j < P + offsets[s + 1]) end = P + offsets[s + 1];
  }
  four sum_k = {};
  four sum_v = {};
  for (int head = blockIdx.y * (H / G); head < (blockIdx.y + 1) * (H / G); ++head) {
    for (int i = j; i < end; ++i) {
      const long long at = (static_cast<long long>(i) * H + head) * 128 + lane;
      const long long row = static_cast<long long>(head) * rows + i;
      const four query = load(q + at);
      const four gradient = load(d_o + at);
      const float p = expf(product(query, key) * root - lse[row]);
      add(sum_v, p, gradient);
      add(sum_k, p * (product(gradient, value) - delta[row]), query);
    }
  }
  store(dk + to, sum_k, root);
  store(dv + to, sum_v, 1.0f);
}
