// Gradients of attention with a shared prompt in float64, and scales for the tolerance. Blocks of 128 threads, a thread an element of
// the head: `forward` and `of_queries` make 8 queries, 32 keys at a time; `of_keys` makes 8 keys, 32 queries at a time.
// kevo: workspace o float64 [P + T, H, 128]
// kevo: workspace lse float64 [H, P + T]
// kevo: workspace delta float64 [H, P + T]
// kevo: workspace spread float64 [H, P + T]
// kevo: launch forward<<<(ceildiv(P + T, 8), H), 128>>>(q, k, v, offsets, o, lse, H, G, P, N, P + T)
// kevo: launch sums<<<(P + T, H), 128>>>(o, d_o, delta, spread, H, P + T)
// kevo: launch of_queries<<<(ceildiv(P + T, 8), H), 128>>>(q, k, v, d_o, offsets, lse, delta, spread, dq, dq_scale, H, G, P, N, P + T)
// kevo: launch of_keys<<<(ceildiv(P + T, 8), G), 128>>>(q, k, v, d_o, offsets, lse, delta, spread, dk, dv, dk_scale, dv_scale, H, G, P, N, P + T)
constexpr double root = 0.08838834764831844055;  // 1 / sqrt(128)
#define FLOAT16 0  // 1: float16 instead of bfloat16; a task sets it (docs/tasks.md, `define`)
// Numbers below it have errors as large as those at it. bfloat16 has the exponents of float32.
constexpr double smallest = FLOAT16 ? 0x1p-14 : 0.0;
// Of a scale. Exponentials in float32 become 0 below 1e-38.
constexpr double least = FLOAT16 ? smallest : 1e-25;

__device__ __forceinline__ float real(unsigned short x) {
#if FLOAT16
  float y;
  asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x));
  return y;
#else
  return __uint_as_float(static_cast<unsigned>(x) << 16);
#endif
}
// Where the response of a row begins; the prompt's rows have none: 0.
__device__ int begin_of(const int* offsets, int P, int N, int row) {
  int from = 0;
  for (int s = 0; s < N && row >= P; ++s) {
    if (P + offsets[s] <= row) from = P + offsets[s];
  }
  return from;
}
// Behind the last row that sees a key.
__device__ int end_of(const int* offsets, int P, int N, int rows, int key) {
  for (int s = 0; s < N && key >= P; ++s) {
    if (key < P + offsets[s + 1]) return P + offsets[s + 1];
  }
  return rows;
}

extern "C" __global__ void __launch_bounds__(128)
    forward(const unsigned short* q, const unsigned short* k, const unsigned short* v, const int* offsets, double* o, double* lse,
            int H, int G, int P, int N, int rows) {
  __shared__ float queries[8][128];
  __shared__ float keys[32][129];
  __shared__ double weights[8][33];
  __shared__ double rescale[8];
  __shared__ double largest[8];
  __shared__ int own[8];
  const int thread = threadIdx.x;
  const int first = blockIdx.x * 8;
  const int head = blockIdx.y;
  const int key_head = head / (H / G);
  if (thread < 8) {
    own[thread] = begin_of(offsets, P, N, min(first + thread, rows - 1));
    largest[thread] = -1e300;
  }
  for (int i = 0; i < 8; ++i) {
    queries[i][thread] = first + i < rows ? real(q[((first + i) * static_cast<long long>(H) + head) * 128 + thread]) : 0.0F;
  }
  double sum[8] = {};
  double total[8] = {};
  __syncthreads();
  const int last = min(first + 8, rows);
  const int begin_own = first < P ? 0 : own[0];
  for (int j0 = 0; j0 < last; j0 += 32) {
    if (j0 >= P && j0 + 32 <= begin_own) continue;
    __syncthreads();
    for (int j = 0; j < 32; ++j) {
      keys[j][thread] = j0 + j < rows ? real(k[((j0 + j) * static_cast<long long>(G) + key_head) * 128 + thread]) : 0.0F;
    }
    __syncthreads();
    for (int half = 0; half < 2; ++half) {
      const int i = half * 4 + thread / 32;
      const int j = thread % 32;
      double score = 0.0;
      for (int d = 0; d < 128; ++d) score += static_cast<double>(queries[i][d]) * static_cast<double>(keys[j][d]);
      const bool seen = j0 + j <= first + i && (j0 + j < P || j0 + j >= own[i]);
      weights[i][j] = seen ? score * root : -1e300;
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
    }
    for (int j = 0; j < 32 && j0 + j < last; ++j) {
      const double value = real(v[((j0 + j) * static_cast<long long>(G) + key_head) * 128 + thread]);
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        sum[i] += weights[i][j] * value;
        total[i] += weights[i][j];
      }
    }
  }
  for (int i = 0; i < 8 && first + i < rows; ++i) {
    o[((first + i) * static_cast<long long>(H) + head) * 128 + thread] = sum[i] / total[i];
    if (thread == 0) lse[head * static_cast<long long>(rows) + first + i] = largest[i] + log(total[i]);
  }
}

// The sum of do o of each row, and what roundings of o add up to in it.
extern "C" __global__ void __launch_bounds__(128)
    sums(const double* o, const unsigned short* d_o, double* delta, double* spread, int H, int rows) {
  __shared__ double parts[2][128];
  const long long at = (blockIdx.x * static_cast<long long>(H) + blockIdx.y) * 128 + threadIdx.x;
  const double gradient = real(d_o[at]);
  const double unsure = (fabs(o[at]) + smallest) * gradient;
  parts[0][threadIdx.x] = o[at] * gradient;
  parts[1][threadIdx.x] = unsure * unsure;
  __syncthreads();
  if (threadIdx.x < 2) {
    double sum = 0.0;
    for (int d = 0; d < 128; ++d) sum += parts[threadIdx.x][d];
    (threadIdx.x == 0 ? delta : spread)[blockIdx.y * static_cast<long long>(rows) + blockIdx.x] = threadIdx.x == 0 ? sum : sqrt(sum);
  }
}

// For 8 rows x and y of one kind and 32 of the other one: probabilities, their gradients, and how uncertain these are.
struct pairs {
  float few[2][8][128];
  float many[2][32][129];
  double weight[8][33];
  double gradient[8][33];
  double unsure[8][33];
};
__device__ __forceinline__ void make_pair(pairs& s, int few, int many, bool seen, double lse, double delta, double spread) {
  double score = 0.0;
  double dp = 0.0;
  for (int d = 0; d < 128; ++d) {
    score += static_cast<double>(s.few[0][few][d]) * static_cast<double>(s.many[0][many][d]);
    dp += static_cast<double>(s.few[1][few][d]) * static_cast<double>(s.many[1][many][d]);
  }
  const double p = seen ? exp(score * root - lse) : 0.0;
  s.weight[few][many] = p;
  s.gradient[few][many] = p * (dp - delta);
  // A gradient may be rounded before or after it is multiplied by `root`.
  s.unsure[few][many] = seen ? p * (fabs(dp - delta) + spread) + smallest / root : 0.0;
}

extern "C" __global__ void __launch_bounds__(128)
    of_queries(const unsigned short* q, const unsigned short* k, const unsigned short* v, const unsigned short* d_o,
               const int* offsets, const double* lse, const double* delta, const double* spread, double* dq, double* dq_scale, int H,
               int G, int P, int N, int rows) {
  __shared__ pairs s;
  __shared__ int own[8];
  const int thread = threadIdx.x;
  const int first = blockIdx.x * 8;
  const int head = blockIdx.y;
  const int key_head = head / (H / G);
  if (thread < 8) own[thread] = begin_of(offsets, P, N, min(first + thread, rows - 1));
  for (int i = 0; i < 8; ++i) {
    const long long at = (min(first + i, rows - 1) * static_cast<long long>(H) + head) * 128 + thread;
    s.few[0][i][thread] = real(q[at]);
    s.few[1][i][thread] = real(d_o[at]);
  }
  double sum[8] = {};
  double squares[8] = {};
  double seen_keys[8] = {};
  double all_keys[8] = {};
  __syncthreads();
  const int last = min(first + 8, rows);
  const int begin_own = first < P ? 0 : own[0];
  for (int j0 = 0; j0 < last; j0 += 32) {
    if (j0 >= P && j0 + 32 <= begin_own) continue;
    __syncthreads();
    for (int j = 0; j < 32; ++j) {
      const long long at = (min(j0 + j, rows - 1) * static_cast<long long>(G) + key_head) * 128 + thread;
      s.many[0][j][thread] = real(k[at]);
      s.many[1][j][thread] = real(v[at]);
    }
    __syncthreads();
    for (int half = 0; half < 2; ++half) {
      const int i = half * 4 + thread / 32;
      const int j = j0 + thread % 32;
      const long long row = head * static_cast<long long>(rows) + min(first + i, rows - 1);
      make_pair(s, i, thread % 32, j <= first + i && j < rows && (j < P || j >= own[i]), lse[row], delta[row], spread[row]);
    }
    __syncthreads();
    for (int j = 0; j < 32 && j0 + j < last; ++j) {
      const double key = s.many[0][j][thread];
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        const double unsure = s.unsure[i][j] * key;
        sum[i] += s.gradient[i][j] * key;
        squares[i] += unsure * unsure;
        seen_keys[i] += s.weight[i][j] * key;
        all_keys[i] += s.weight[i][j] > 0.0 ? key : 0.0;
      }
    }
  }
  for (int i = 0; i < 8 && first + i < rows; ++i) {
    const long long to = ((first + i) * static_cast<long long>(H) + head) * 128 + thread;
    const double uncertain = spread[head * static_cast<long long>(rows) + first + i];
    dq[to] = root * sum[i];
    dq_scale[to] =
        root * (fabs(sum[i]) + sqrt(squares[i]) + uncertain * fabs(seen_keys[i]) + smallest * fabs(all_keys[i])) + least;
  }
}

extern "C" __global__ void __launch_bounds__(128)
    of_keys(const unsigned short* q, const unsigned short* k, const unsigned short* v, const unsigned short* d_o, const int* offsets,
            const double* lse, const double* delta, const double* spread, double* dk, double* dv, double* dk_scale,
            double* dv_scale, int H, int G, int P, int N, int rows) {
  __shared__ pairs s;
  __shared__ int end[8];
  __shared__ double spreads[32];
  const int thread = threadIdx.x;
  const int first = blockIdx.x * 8;
  const int key_head = blockIdx.y;
  if (thread < 8) end[thread] = end_of(offsets, P, N, rows, min(first + thread, rows - 1));
  for (int i = 0; i < 8; ++i) {
    const long long at = (min(first + i, rows - 1) * static_cast<long long>(G) + key_head) * 128 + thread;
    s.few[0][i][thread] = real(k[at]);
    s.few[1][i][thread] = real(v[at]);
  }
  double sum_k[8] = {};
  double sum_v[8] = {};
  double squares_k[8] = {};
  double squares_v[8] = {};
  double alike[8] = {};  // what errors of delta add up to if they have one sign
  // Where rows are equal, so are their gradients below `smallest` and the errors of these.
  double all_queries[8] = {};
  double all_d_o[8] = {};
  __syncthreads();
  int behind = 0;
  for (int i = 0; i < 8; ++i) behind = max(behind, end[i]);
  for (int head = key_head * (H / G); head < (key_head + 1) * (H / G); ++head) {
    for (int j0 = first; j0 < behind; j0 += 32) {
      __syncthreads();
      for (int j = 0; j < 32; ++j) {
        const long long at = (min(j0 + j, rows - 1) * static_cast<long long>(H) + head) * 128 + thread;
        s.many[0][j][thread] = real(q[at]);
        s.many[1][j][thread] = real(d_o[at]);
      }
      if (thread < 32) spreads[thread] = spread[head * static_cast<long long>(rows) + min(j0 + thread, rows - 1)];
      __syncthreads();
      for (int half = 0; half < 2; ++half) {
        const int i = half * 4 + thread / 32;
        const int j = j0 + thread % 32;
        const long long row = head * static_cast<long long>(rows) + min(j, rows - 1);
        make_pair(s, i, thread % 32, first + i < rows && j >= first + i && j < end[i], lse[row], delta[row], spread[row]);
      }
      __syncthreads();
      for (int j = 0; j < 32; ++j) {
        const double query = s.many[0][j][thread];
        const double d = s.many[1][j][thread];
#pragma unroll
        for (int i = 0; i < 8; ++i) {
          const double unsure = s.unsure[i][j] * query;
          const double part = s.weight[i][j] * d;
          const double unsure_part = s.weight[i][j] > 0.0 ? (s.weight[i][j] + smallest) * d : 0.0;
          all_queries[i] += s.weight[i][j] > 0.0 ? query : 0.0;
          all_d_o[i] += s.weight[i][j] > 0.0 ? d : 0.0;
          sum_k[i] += s.gradient[i][j] * query;
          squares_k[i] += unsure * unsure;
          alike[i] += s.weight[i][j] * spreads[j] * query;
          sum_v[i] += part;
          squares_v[i] += unsure_part * unsure_part;
        }
      }
    }
  }
  for (int i = 0; i < 8 && first + i < rows; ++i) {
    const long long to = ((first + i) * static_cast<long long>(G) + key_head) * 128 + thread;
    dk[to] = root * sum_k[i];
    dk_scale[to] = root * (fabs(sum_k[i]) + sqrt(squares_k[i]) + fabs(alike[i]) + smallest * fabs(all_queries[i])) + least;
    dv[to] = sum_v[i];
    dv_scale[to] = fabs(sum_v[i]) + sqrt(squares_v[i]) + smallest * fabs(all_d_o[i]) + least;
  }
}
