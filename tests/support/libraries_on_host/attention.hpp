#pragma once
// Attention of one sequence and its gradients in plain loops, for what stands for a library.

#include "tests/support/libraries_on_host/runtime.hpp"

/// Where a sequence is: rows of H or G heads with 128 elements; logarithms of the rows of a head behind each
/// other, `stride` from head to head.
struct sequence {
  long rows, columns;  // queries and keys
  long H, G;
  bool causal;
  const word *q, *k, *v;
  word* o;
  float* logarithms;
  long stride;
  const word* d_o = nullptr;
  word *dq = nullptr, *dk = nullptr, *dv = nullptr;
};

inline double score_of(const sequence& s, long h, long i, long j) {
  double sum = 0;
  for (long d = 0; d < 128; ++d)
    sum += double(number(s.q[(i * s.H + h) * 128 + d])) * number(s.k[(j * s.G + h / (s.H / s.G)) * 128 + d]);
  return sum / std::sqrt(128.0);
}

inline void attend(const sequence& s) {
  for (long h = 0; h < s.H; ++h) {
    for (long i = 0; i < s.rows; ++i) {
      const long end = s.causal ? i + 1 : s.columns;
      std::vector<double> weights(end);
      double total = 0;
      for (long j = 0; j < end; ++j) total += weights[j] = std::exp(score_of(s, h, i, j));
      for (long d = 0; d < 128; ++d) {
        double sum = 0;
        for (long j = 0; j < end; ++j) sum += weights[j] * number(s.v[(j * s.G + h / (s.H / s.G)) * 128 + d]);
        s.o[(i * s.H + h) * 128 + d] = rounded(sum / total);
      }
      s.logarithms[h * s.stride + i] = float(std::log(total));
    }
  }
}

/// From the o and the logarithms that are there, whatever they belong to.
inline void differentiate(const sequence& s) {
  std::vector<double> dq(s.rows * s.H * 128), dk(s.columns * s.G * 128), dv(s.columns * s.G * 128);
  for (long h = 0; h < s.H; ++h) {
    for (long i = 0; i < s.rows; ++i) {
      const long at = (i * s.H + h) * 128;
      double delta = 0;
      for (long d = 0; d < 128; ++d) delta += double(number(s.o[at + d])) * number(s.d_o[at + d]);
      for (long j = 0; j < (s.causal ? i + 1 : s.columns); ++j) {
        const long key = (j * s.G + h / (s.H / s.G)) * 128;
        const double p = std::exp(score_of(s, h, i, j) - s.logarithms[h * s.stride + i]);
        double dp = -delta;
        for (long d = 0; d < 128; ++d) dp += double(number(s.d_o[at + d])) * number(s.v[key + d]);
        for (long d = 0; d < 128; ++d) {
          dv[key + d] += p * number(s.d_o[at + d]);
          dk[key + d] += p * dp * number(s.q[at + d]) / std::sqrt(128.0);
          dq[at + d] += p * dp * number(s.k[key + d]) / std::sqrt(128.0);
        }
      }
    }
  }
  std::ranges::transform(dq, s.dq, rounded);
  std::ranges::transform(dk, s.dk, rounded);
  std::ranges::transform(dv, s.dv, rounded);
}
