// One row after the other, one sum for each.
#include <cstdint>

extern "C" void run(const int32_t* row_start, const int32_t* column, const float* value, const float* X, float* Y,
                    int64_t ROWS, int64_t, int64_t) {
  for (int64_t i = 0; i < ROWS; ++i) {
    float sum = 0;
    for (int32_t k = row_start[i]; k < row_start[i + 1]; ++k) sum += value[k] * X[column[k]];
    Y[i] = sum;
  }
}
