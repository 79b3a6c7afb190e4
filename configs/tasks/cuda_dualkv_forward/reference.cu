// Attention with a shared prompt in float64, and a scale for the tolerance. A block makes 8 queries of a head, a thread one element
// of each: 32 keys at a time, their scores first (two a thread), then the sums with weights exp(score - largest so far).
// kevo: launch reference<<<(ceildiv(P + T, 8), H), 128>>>(q, k, v, offsets, o, lse, o_scale, H, G, P, N, P + T)
#define FLOAT16 0  // 1: float16 instead of bfloat16; a task sets it (docs/tasks.md, `define`)
// Numbers below it have errors as large as those at it. bfloat16 has the exponents of float32.
constexpr double smallest = FLOAT16 ? 0x1p-14 : 0.0;

__device__ __forceinline__ float real(unsigned short x) {
#if FLOAT16
  float y;
  asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x));
  return y;
#else
  return __uint_as_float(static_cast<unsigned>(x) << 16);
#endif
}

extern "C" __global__ void __launch_bounds__(128)
    reference(const unsigned short* q, const unsigned short* k, const unsigned short* v, const int* offsets, double* o, double* lse,
              double* o_scale, int H, int G, int P, int N, int rows) {
  __shared__ double queries[8][128];
  __shared__ float keys[32][129];
  __shared__ double weights[8][33];
  __shared__ double rescale[8];
  __shared__ double largest[8];
  __shared__ int own[8];  // where the response of a query begins; the prompt's queries have none: 0
  const int thread = threadIdx.x;
  const int first = blockIdx.x * 8;
  const int head = blockIdx.y;
  const int key_head = head / (H / G);
  if (thread < 8) {
    const int row = min(first + thread, rows - 1);
    int from = 0;
    for (int s = 0; s < N && row >= P; ++s) {
      if (P + offsets[s] <= row) from = P + offsets[s];
    }
    own[thread] = from;
    largest[thread] = -1e300;
  }
  for (int i = 0; i < 8; ++i) queries[i][thread] = first + i < rows ? real(q[((first + i) * static_cast<long long>(H) + head) * 128 + thread]) : 0.0;
  double sum[8] = {};
  double squares[8] = {};
  double values[8] = {};  // of squares of the values that are seen
  double total[8] = {};
  __syncthreads();
  const int last = min(first + 8, rows);
  // Rows between the prompt and the first response that is seen belong to others.
  const int begin_own = first < P ? 0 : own[0];
  for (int j0 = 0; j0 < last; j0 += 32) {
    if (j0 >= P && j0 + 32 <= begin_own) continue;
    __syncthreads();
    for (int j = 0; j < 32; ++j) {
      keys[j][thread] =
          j0 + j < rows ? static_cast<float>(real(k[((j0 + j) * static_cast<long long>(G) + key_head) * 128 + thread])) : 0.0f;
    }
    __syncthreads();
    for (int half = 0; half < 2; ++half) {
      const int i = half * 4 + thread / 32;
      const int j = thread % 32;
      double score = 0.0;
      for (int d = 0; d < 128; ++d) score += queries[i][d] * static_cast<double>(keys[j][d]);
      const bool seen = j0 + j <= first + i && (j0 + j < P || j0 + j >= own[i]);
      weights[i][j] = seen ? score * 0.08838834764831844055 : -1e300;  // 1 / sqrt(128)
    }
    __syncthreads();
    if (thread < 8) {
      double most = largest[thread];
      for (int j = 0; j < 32; ++j) most = fmax(most, weights[thread][j]);
      rescale[thread] = exp(largest[thread] - most);
      largest[thread] = most;
    }
    __syncthreads();
    for (int half = 0; half < 2; ++half) {
      const int i = half * 4 + thread / 32;
      double& weight = weights[i][thread % 32];
      weight = weight > -1e299 ? exp(weight - largest[i]) : 0.0;
    }
    __syncthreads();
    for (int i = 0; i < 8; ++i) {
      sum[i] *= rescale[i];
      total[i] *= rescale[i];
      squares[i] *= rescale[i] * rescale[i];
    }
    for (int j = 0; j < 32 && j0 + j < last; ++j) {
      const double value = real(v[((j0 + j) * static_cast<long long>(G) + key_head) * 128 + thread]);
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        const double part = weights[i][j] * value;
        sum[i] += part;
        squares[i] += part * part;
        if (FLOAT16 != 0 && weights[i][j] > 0.0) values[i] += value * value;
        total[i] += weights[i][j];
      }
    }
  }
  for (int i = 0; i < 8; ++i) {
    if (first + i >= rows) continue;
    const long long to = ((first + i) * static_cast<long long>(H) + head) * 128 + thread;
    o[to] = sum[i] / total[i];
    o_scale[to] = fabs(sum[i] / total[i]) + sqrt(squares[i]) / total[i] + smallest * sqrt(values[i]);
    if (thread == 0) lse[head * static_cast<long long>(rows) + first + i] = largest[i] + log(total[i]);
  }
}
