// Softmax of rows with a vector exponential. Which exponential, how wide, and how many passes over a row are
// tunables; as written it calls the library's scalar one.
#include <cmath>
#include <cstdint>

// kevo: begin exponential
#define VECTOR_EXP 0  // kevo: {0, 1}
#define DEGREE 7      // kevo: {6, 7}
#define LANES 4       // kevo: {4, 8, 16}
// kevo: end exponential

// kevo: begin passes
#define SUMS 1             // kevo: {1, 2, 4, 8}
#define KEEP_TERMS 0       // kevo: {0, 1}
#define RECIPROCAL 0       // kevo: {0, 1}
constexpr int unroll = 1;  // kevo: {1, 2, 4}
// kevo: end passes

namespace {

constexpr int64_t step = SUMS * LANES;

typedef float vector __attribute__((vector_size(LANES * 4)));
typedef int32_t words __attribute__((vector_size(LANES * 4)));
typedef float loose_vector
    __attribute__((vector_size(LANES * 4), aligned(4), may_alias));  // anywhere in memory

constexpr float taylor[8] = {1.0F, 1.0F, 1.0F / 2, 1.0F / 6, 1.0F / 24, 1.0F / 120, 1.0F / 720, 1.0F / 5040};

inline void load(vector& to, const float* from) {
  to = *reinterpret_cast<const loose_vector*>(from);
}
inline void store(float* to, const vector& from) {
  *reinterpret_cast<loose_vector*>(to) = from;
}

// x := exp(x) for x <= 0, by exp(x) = 2^n exp(r) with |r| <= log(2) / 2. Below -87 the result is about 1e-38.
inline void exponential(vector& x) {
  if (VECTOR_EXP == 0) {
    for (int lane = 0; lane < LANES; ++lane) x[lane] = std::exp(x[lane]);
    return;
  }
  x = x > -87.0F ? x : vector{} - 87.0F;
  // Adding and taking off 1.5 * 2^23 rounds to the nearest integer, which stays in the low bits of the sum.
  const vector shifted = x * 1.44269504F + 12582912.0F;
  const vector n = shifted - 12582912.0F;
  const vector r = (x - n * 0.693359375F) + n * 2.12194440e-4F;
  vector p = vector{} + taylor[DEGREE];
#pragma GCC unroll 8
  for (int i = DEGREE - 1; i >= 0; --i) p = p * r + taylor[i];
  const words exponent = (reinterpret_cast<words>(shifted) + 127) << 23;
  x = p * reinterpret_cast<vector>(exponent);
}

float largest_of(const float* x, int64_t N) {
  int64_t j = 0;
  float largest = x[0];
  if (N >= step) {
    vector best[SUMS];
#pragma GCC unroll 8
    for (int s = 0; s < SUMS; ++s) load(best[s], x + s * LANES);
#pragma GCC unroll unroll
    for (j = step; j + step <= N; j += step) {
#pragma GCC unroll 8
      for (int s = 0; s < SUMS; ++s) {
        vector v;
        load(v, x + j + s * LANES);
        best[s] = v > best[s] ? v : best[s];
      }
    }
    for (int s = 1; s < SUMS; ++s) best[0] = best[s] > best[0] ? best[s] : best[0];
    for (int lane = 0; lane < LANES; ++lane) largest = best[0][lane] > largest ? best[0][lane] : largest;
  }
  for (; j < N; ++j) largest = x[j] > largest ? x[j] : largest;
  return largest;
}

// The last, partial vector of a row is computed in a full one of its own; lanes beyond it count as exp(-87).
inline void load_some(vector& to, const float* from, int64_t count, float filler) {
  for (int lane = 0; lane < LANES; ++lane) to[lane] = lane < count ? from[lane] : filler;
}

float sum_of_terms(const float* x, float* y, int64_t N, float largest) {
  vector sum[SUMS];
#pragma GCC unroll 8
  for (int s = 0; s < SUMS; ++s) sum[s] = vector{};
  int64_t j = 0;
#pragma GCC unroll unroll
  for (; j + step <= N; j += step) {
#pragma GCC unroll 8
    for (int s = 0; s < SUMS; ++s) {
      vector v;
      load(v, x + j + s * LANES);
      v -= largest;
      exponential(v);
      if (KEEP_TERMS != 0) store(y + j + s * LANES, v);
      sum[s] += v;
    }
  }
  for (; j < N; j += LANES) {
    const int64_t count = N - j < LANES ? N - j : LANES;
    vector v;
    load_some(v, x + j, count, largest);
    v -= largest;
    exponential(v);
    for (int lane = 0; lane < LANES; ++lane) {
      if (lane >= count) {
        v[lane] = 0;
      } else if (KEEP_TERMS != 0) {
        y[j + lane] = v[lane];
      }
    }
    sum[0] += v;
  }
  float total = 0;
  for (int s = 0; s < SUMS; ++s) {
    for (int lane = 0; lane < LANES; ++lane) total += sum[s][lane];
  }
  return total;
}

inline void divide(vector& v, float sum, float reciprocal) {
  if (RECIPROCAL != 0) {
    v *= reciprocal;
  } else {
    v /= sum;
  }
}

}  // namespace

extern "C" void run(const float* X, float* Y, int64_t M, int64_t N) {
  for (int64_t i = 0; i < M; ++i) {
    const float* x = X + i * N;
    float* y = Y + i * N;
    const float largest = largest_of(x, N);
    const float sum = sum_of_terms(x, y, N, largest);
    const float reciprocal = 1.0F / sum;
    int64_t j = 0;
#pragma GCC unroll unroll
    for (; j + LANES <= N; j += LANES) {
      vector v;
      if (KEEP_TERMS != 0) {
        load(v, y + j);
      } else {
        load(v, x + j);
        v -= largest;
        exponential(v);
      }
      divide(v, sum, reciprocal);
      store(y + j, v);
    }
    if (j < N) {
      vector v;
      if (KEEP_TERMS != 0) {
        load_some(v, y + j, N - j, 0.0F);
      } else {
        load_some(v, x + j, N - j, largest);
        v -= largest;
        exponential(v);
      }
      divide(v, sum, reciprocal);
      for (int64_t lane = 0; lane < N - j; ++lane) y[j + lane] = v[lane];
    }
  }
}
