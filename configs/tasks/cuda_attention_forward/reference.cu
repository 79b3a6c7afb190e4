// Attention in float64, and a scale for the tolerance. A block makes 8 queries, a thread one element of the head of each: 32
// keys at a time, their scores first (two a thread), then the sums with weights exp(score - largest so far).
// kevo: launch reference<<<(ceildiv(S, 8), H, B), 128>>>(q, k, v, o, o_scale, H, G, S, mask)
__device__ __forceinline__ double real(unsigned short x) { return __uint_as_float(static_cast<unsigned>(x) << 16); }

extern "C" __global__ void __launch_bounds__(128)
    reference(const unsigned short* q, const unsigned short* k, const unsigned short* v, double* o, double* o_scale, int H,
              int G, int S, int mask) {
  __shared__ double queries[8][128];
  __shared__ float keys[32][129];
  __shared__ double weights[8][33];
  __shared__ double rescale[8];
  __shared__ double largest[8];
  const int thread = threadIdx.x;
  const int first = blockIdx.x * 8;
  const long long head = (static_cast<long long>(blockIdx.z) * H + blockIdx.y) * S * 128;
  const long long key_head = (static_cast<long long>(blockIdx.z) * G + blockIdx.y / (H / G)) * S * 128;
  for (int i = 0; i < 8; ++i) queries[i][thread] = first + i < S ? real(q[head + (first + i) * 128LL + thread]) : 0.0;
  if (thread < 8) largest[thread] = -1e300;
  double sum[8] = {};
  double squares[8] = {};
  double total[8] = {};
  const int last = mask == 2 ? min(first + 8, S) : S;
  for (int j0 = 0; j0 < last; j0 += 32) {
    __syncthreads();
    for (int j = 0; j < 32; ++j) keys[j][thread] = j0 + j < S ? static_cast<float>(real(k[key_head + (j0 + j) * 128LL + thread])) : 0.0f;
    __syncthreads();
    for (int half = 0; half < 2; ++half) {
      const int i = half * 4 + thread / 32;
      const int j = thread % 32;
      double score = 0.0;
      for (int d = 0; d < 128; ++d) score += queries[i][d] * static_cast<double>(keys[j][d]);
      const bool seen = j0 + j < S && (mask == 1 || j0 + j <= first + i);
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
      const double value = real(v[key_head + (j0 + j) * 128LL + thread]);
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        const double part = weights[i][j] * value;
        sum[i] += part;
        squares[i] += part * part;
        total[i] += weights[i][j];
      }
    }
  }
  for (int i = 0; i < 8; ++i) {
    if (first + i >= S) continue;
    const long long to = head + (first + i) * 128LL + thread;
    o[to] = sum[i] / total[i];
    o_scale[to] = fabs(sum[i] / total[i]) + sqrt(squares[i]) / total[i];
  }
}
