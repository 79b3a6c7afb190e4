// The kernels of the toy tasks in tests/fitness/cuda/fake and of docs/guide/cuda_kernel.md: what they and
// their references compute.

#include "tests/support/fake_cuda/kernels.hpp"

#include <cmath>

namespace fake_cuda {
namespace {

void scale(const float* x, float* y, long long n) {
  for (long long i = 0; i < n; ++i) y[i] = 2 * x[i];
}
void scale_reference(const float* x, double* y, long long n) {
  for (long long i = 0; i < n; ++i) y[i] = 2.0 * x[i];
}
// The kernel of docs/guide/cuda_kernel.md.
void scale_add(const float* x, const float* b, float* y, long long n) {
  for (long long i = 0; i < n; ++i) y[i] = 2.5F * x[i] + b[i];
}
void scale_add_reference(const float* x, const float* b, double* y, long long n) {
  for (long long i = 0; i < n; ++i) y[i] = 2.5 * x[i] + b[i];
}
// One block a row.
void rows(const float* x, float* y, long long n) {
  for (std::uint64_t row = 0; row < current_shape.blocks; ++row) {
    float sum = 0;
    for (long long j = 0; j < n; ++j) sum += x[static_cast<long long>(row) * n + j];
    y[row] = sum;
  }
}
void rows_reference(const float* x, double* y, double* y_abs, long long n) {
  for (std::uint64_t row = 0; row < current_shape.blocks; ++row) {
    y[row] = y_abs[row] = 0;
    for (long long j = 0; j < n; ++j) {
      const double value = x[static_cast<long long>(row) * n + j];
      y[row] += value;
      y_abs[row] += std::fabs(value);
    }
  }
}

}  // namespace

const host_kernel* find_toy_kernel(std::string_view name) {
  static constexpr std::pair<std::string_view, host_kernel> all[] = {
      {"scale", as_kernel<scale>::entry},
      {"scale_reference", as_kernel<scale_reference>::entry},
      {"scale_add", as_kernel<scale_add>::entry},
      {"scale_add_reference", as_kernel<scale_add_reference>::entry},
      {"rows", as_kernel<rows>::entry},
      {"rows_reference", as_kernel<rows_reference>::entry},
  };
  for (const auto& [known, kernel] : all) {
    if (known == name) return &kernel;
  }
  return nullptr;
}

}  // namespace fake_cuda
