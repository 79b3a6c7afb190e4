#include <cmath>
#include <cstdint>

extern "C" void reference(const int64_t* row_start, const int64_t* column, const double* value, const double* X, double* Y,
                          double* Y_scale, int64_t ROWS, int64_t, int64_t) {
  for (int64_t i = 0; i < ROWS; ++i) {
    double sum = 0, magnitude = 0;
    for (int64_t k = row_start[i]; k < row_start[i + 1]; ++k) {
      sum += value[k] * X[column[k]];
      magnitude += std::abs(value[k] * X[column[k]]);
    }
    Y[i] = sum;
    Y_scale[i] = magnitude * std::sqrt(static_cast<double>(row_start[i + 1] - row_start[i]));
  }
}
