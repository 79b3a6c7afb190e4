// Several sums for each row, so that an addition need not wait for the one before it. 40 settings.
#include <cstdint>

// kevo: begin sums
#define SUMS 1   // kevo: {1, 2, 4, 8, 16}
#define SHORT 0  // kevo: {0, 32}
// kevo: end sums

// kevo: begin reading
#define PREFETCH 0  // kevo: {0, 128}
#define PAIRS 0     // kevo: {0, 1}
// kevo: end reading

namespace {

// The row's elements from `from` to `to`, added up in `sums` places.
template <int sums>
inline float row_sum(const int32_t* __restrict column, const float* __restrict value, const float* __restrict X,
                     int32_t from, int32_t to) {
  float part[sums] = {};
  int32_t k = from;
  for (; k + sums <= to; k += sums) {
    // An address only; columns beyond the last one are not read.
    if (PREFETCH > 0) __builtin_prefetch(column + k + PREFETCH);
#pragma GCC unroll 16
    for (int s = 0; s < sums; ++s) part[s] += value[k + s] * X[column[k + s]];
  }
  for (; k < to; ++k) part[0] += value[k] * X[column[k]];
  float sum = 0;
  for (int s = 0; s < sums; ++s) sum += part[s];
  return sum;
}

inline float one_row(const int32_t* column, const float* value, const float* X, int32_t from, int32_t to) {
  if (to - from < SHORT) return row_sum<1>(column, value, X, from, to);
  return row_sum<SUMS>(column, value, X, from, to);
}

}  // namespace

extern "C" void run(const int32_t* row_start, const int32_t* column, const float* value, const float* X, float* Y,
                    int64_t ROWS, int64_t, int64_t) {
  int64_t i = 0;
  for (; PAIRS != 0 && i + 2 <= ROWS; i += 2) {  // what two neighbours have in common side by side
    int32_t a = row_start[i], b = row_start[i + 1];
    const int32_t a_end = b, b_end = row_start[i + 2];
    float first = 0, second = 0;
    for (; a < a_end && b < b_end; ++a, ++b) {
      first += value[a] * X[column[a]];
      second += value[b] * X[column[b]];
    }
    Y[i] = first + one_row(column, value, X, a, a_end);
    Y[i + 1] = second + one_row(column, value, X, b, b_end);
  }
  for (; i < ROWS; ++i) Y[i] = one_row(column, value, X, row_start[i], row_start[i + 1]);
}
