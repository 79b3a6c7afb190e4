// Root-mean-square normalization with several partial sums, several rows at a time. As written it has one of
// each.
#include <cmath>
#include <cstdint>

// kevo: begin sums
#define LANES 2            // kevo: {2, 4, 8, 16}
#define SUMS 1             // kevo: {1, 2, 4, 8}
#define ROWS 1             // kevo: {1, 2, 4}
constexpr int unroll = 1;  // kevo: {1, 2, 4}
// kevo: end sums

// kevo: begin scaling
#define RECIPROCAL 0    // kevo: {0, 1}
#define SCALE_UNROLL 1  // kevo: {1, 2, 4, 8}
// kevo: end scaling

// kevo: require SUMS * ROWS <= 16

namespace {

constexpr int64_t step = SUMS * LANES;

typedef float vector __attribute__((vector_size(LANES * 4)));
typedef float loose_vector
    __attribute__((vector_size(LANES * 4), aligned(4), may_alias));  // anywhere in memory

constexpr int scale_unroll = SCALE_UNROLL;

// Normalizes `count` rows, of which every loop below keeps all in flight.
template <int count>
void rows_at(const float* X, const float* W, float* Y, int64_t N) {
  vector sum[count][SUMS];
#pragma GCC unroll 4
  for (int r = 0; r < count; ++r) {
#pragma GCC unroll 8
    for (int s = 0; s < SUMS; ++s) sum[r][s] = vector{};
  }
  int64_t j = 0;
#pragma GCC unroll unroll
  for (; j + step <= N; j += step) {
#pragma GCC unroll 4
    for (int r = 0; r < count; ++r) {
#pragma GCC unroll 8
      for (int s = 0; s < SUMS; ++s) {
        const vector x = *reinterpret_cast<const loose_vector*>(X + r * N + j + s * LANES);
        sum[r][s] += x * x;
      }
    }
  }
  float total[count];
  for (int r = 0; r < count; ++r) {
    total[r] = 0;
    for (int64_t k = j; k < N; ++k) total[r] += X[r * N + k] * X[r * N + k];
    for (int s = 0; s < SUMS; ++s) {
      for (int lane = 0; lane < LANES; ++lane) total[r] += sum[r][s][lane];
    }
    total[r] = std::sqrt(total[r] / static_cast<float>(N) + 1e-6F);
    if (RECIPROCAL != 0) total[r] = 1.0F / total[r];
  }
  j = 0;
#pragma GCC unroll scale_unroll
  for (; j + LANES <= N; j += LANES) {
    const vector w = *reinterpret_cast<const loose_vector*>(W + j);
#pragma GCC unroll 4
    for (int r = 0; r < count; ++r) {
      const vector x = *reinterpret_cast<const loose_vector*>(X + r * N + j);
      loose_vector& y = *reinterpret_cast<loose_vector*>(Y + r * N + j);
      y = RECIPROCAL != 0 ? x * total[r] * w : x / total[r] * w;
    }
  }
  for (; j < N; ++j) {
    for (int r = 0; r < count; ++r) {
      const float x = X[r * N + j];
      Y[r * N + j] = (RECIPROCAL != 0 ? x * total[r] : x / total[r]) * W[j];
    }
  }
}

}  // namespace

extern "C" void run(const float* X, const float* W, float* Y, int64_t M, int64_t N) {
  int64_t i = 0;
  for (; i + ROWS <= M; i += ROWS) rows_at<ROWS>(X + i * N, W, Y + i * N, N);
  for (; i < M; ++i) rows_at<1>(X + i * N, W, Y + i * N, N);
}
