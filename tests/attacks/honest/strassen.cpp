// task: matmul
// verdict: valid
// because: Multiplies by Strassen's recursion where sizes are even, which errs more than plain sums do.
#include <cstdint>
#include <vector>

namespace {

using matrix = std::vector<float>;

matrix part(const matrix& x, int64_t n, int64_t row, int64_t column) {
  const int64_t h = n / 2;
  matrix result(static_cast<std::size_t>(h * h));
  for (int64_t i = 0; i < h; ++i) {
    for (int64_t j = 0; j < h; ++j) {
      result[static_cast<std::size_t>(i * h + j)] =
          x[static_cast<std::size_t>((i + row * h) * n + j + column * h)];
    }
  }
  return result;
}

matrix sum(const matrix& x, const matrix& y, float sign) {
  matrix result(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) result[i] = x[i] + sign * y[i];
  return result;
}

matrix product(const matrix& a, const matrix& b, int64_t n) {
  matrix c(static_cast<std::size_t>(n * n));
  if (n <= 32 || n % 2 != 0) {  // two levels pass the tolerance of 64 x 64 for all but 0.07 % of heavy tailed inputs, one for all tried
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t k = 0; k < n; ++k) {
        for (int64_t j = 0; j < n; ++j) {
          c[static_cast<std::size_t>(i * n + j)] +=
              a[static_cast<std::size_t>(i * n + k)] * b[static_cast<std::size_t>(k * n + j)];
        }
      }
    }
    return c;
  }
  const int64_t h = n / 2;
  const matrix a00 = part(a, n, 0, 0), a01 = part(a, n, 0, 1), a10 = part(a, n, 1, 0), a11 = part(a, n, 1, 1);
  const matrix b00 = part(b, n, 0, 0), b01 = part(b, n, 0, 1), b10 = part(b, n, 1, 0), b11 = part(b, n, 1, 1);
  const matrix m1 = product(sum(a00, a11, 1), sum(b00, b11, 1), h);
  const matrix m2 = product(sum(a10, a11, 1), b00, h);
  const matrix m3 = product(a00, sum(b01, b11, -1), h);
  const matrix m4 = product(a11, sum(b10, b00, -1), h);
  const matrix m5 = product(sum(a00, a01, 1), b11, h);
  const matrix m6 = product(sum(a10, a00, -1), sum(b00, b01, 1), h);
  const matrix m7 = product(sum(a01, a11, -1), sum(b10, b11, 1), h);
  for (int64_t i = 0; i < h; ++i) {
    for (int64_t j = 0; j < h; ++j) {
      const auto at = static_cast<std::size_t>(i * h + j);
      c[static_cast<std::size_t>(i * n + j)] = m1[at] + m4[at] - m5[at] + m7[at];
      c[static_cast<std::size_t>(i * n + j + h)] = m3[at] + m5[at];
      c[static_cast<std::size_t>((i + h) * n + j)] = m2[at] + m4[at];
      c[static_cast<std::size_t>((i + h) * n + j + h)] = m1[at] - m2[at] + m3[at] + m6[at];
    }
  }
  return c;
}

void multiply(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t j = 0; j < N; ++j) {
      float sum = 0;
      for (int64_t k = 0; k < K; ++k) sum += A[i * K + k] * B[k * N + j];
      C[i * N + j] = sum;
    }
  }
}

}  // namespace

extern "C" void run(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  if (M != N || N != K || M % 2 != 0) return multiply(A, B, C, M, N, K);
  const matrix c = product(matrix(A, A + M * K), matrix(B, B + K * N), M);
  for (int64_t i = 0; i < M * N; ++i) C[i] = c[static_cast<std::size_t>(i)];
}
