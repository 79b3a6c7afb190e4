#pragma once
// Stands for cuDNN in split.cu of cuda_dualkv_backward, whose graphs are left out: the functions that build
// and execute them. Comes in place of the graphs, behind the program's `product` and `pass`.

#include "tests/support/libraries_on_host/attention.hpp"

bool make_forward(cudnnHandle_t, std::int64_t H, std::int64_t G, bool causal, product& made) {
  made.forward.ids = {made.N, made.rows, made.columns, H, G, causal ? 1 : 0};
  return made.rows % 128 == 0 && made.columns % 128 == 0;
}
bool make_backward(cudnnHandle_t, std::int64_t H, std::int64_t G, bool causal, product& made) {
  made.backward.ids = {made.N, made.rows, made.columns, H, G, causal ? 1 : 0};
  return true;
}
/// cuDNN's plans read true lengths, and may write anything behind them.
bool execute(cudnnHandle_t, const pass& p, const std::vector<const void*>& addresses) {
  const bool forward = addresses.size() == 9;
  const long N = p.ids[0], rows = p.ids[1], columns = p.ids[2], H = p.ids[3], G = p.ids[4];
  const int* queries = static_cast<const int*>(addresses[forward ? 5 : 6]);
  const int* keys = static_cast<const int*>(addresses[forward ? 6 : 7]);
  for (long n = 0; n < N; ++n) {
    if (queries[n] < 1 || queries[n] > rows || keys[n] < 1 || keys[n] > columns) return false;
    const auto at = [&](int i, long of, long heads) {
      return static_cast<word*>(const_cast<void*>(addresses[i])) + n * of * heads * 128;
    };
    float* logarithms = static_cast<float*>(const_cast<void*>(addresses[forward ? 4 : 5])) + n * H * rows;
    sequence one = {
        queries[n],        keys[n],        H,          G,   p.ids[5] == 1, at(0, rows, H), at(1, columns, G),
        at(2, columns, G), at(3, rows, H), logarithms, rows};
    if (forward) {
      for (long h = 0; h < H; ++h) std::fill(logarithms + h * rows, logarithms + (h + 1) * rows, -1e30F);
      std::fill_n(one.o, rows * H * 128, rounded(7));
      attend(one);
      continue;
    }
    one.d_o = at(4, rows, H);
    one.dq = at(10, rows, H);
    one.dk = at(11, columns, G);
    one.dv = at(12, columns, G);
    std::fill_n(one.dq, rows * H * 128, rounded(7));
    std::fill_n(one.dk, columns * G * 128, rounded(7));
    std::fill_n(one.dv, columns * G * 128, rounded(7));
    differentiate(one);
  }
  return true;
}
