#pragma once
// The instructions of the tensor cores of kernels that run on the CPU (cuda_on_host.hpp): ldmatrix, mma.sync
// m16n8k16 in bfloat16, and what goes with them. Fragments lie as the PTX manual says ("Matrix Fragments for
// mma.m16n8k16").

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "tests/support/cuda_on_host.hpp"

namespace host_cuda {

/// What the lanes of a warp show each other.
template <class T>
struct exchange {
  std::array<std::array<T, 32>, 32> of_warps = {};
  /// All lanes' values; the next exchange overwrites them, after all lanes have met.
  std::array<T, 32> all(const T& mine) {
    auto& values = of_warps[current->index.x / 32];
    values[current->index.x % 32] = mine;
    meet_warp();
    const auto copied = values;
    meet_warp();
    return copied;
  }
};

inline float real(unsigned word, unsigned half) {
  return std::bit_cast<float>((word >> (16 * half)) << 16);
}

inline std::array<unsigned, 4> matrices(const char* row, bool transposed) {
  static exchange<const char*> rows;
  const auto all = rows.all(row);
  const unsigned lane = current->index.x % 32;
  const auto element = [&](unsigned matrix, unsigned r, unsigned c) -> unsigned {
    return reinterpret_cast<const std::uint16_t*>(all[8 * matrix + r])[c];
  };
  std::array<unsigned, 4> made = {};
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned one = lane / 4;
    const unsigned pair = lane % 4 * 2;
    made[i] = transposed ? element(i, pair, one) | element(i, pair + 1, one) << 16U
                         : element(i, one, pair) | element(i, one, pair + 1) << 16U;
  }
  return made;
}

}  // namespace host_cuda

inline void load_matrices(unsigned (&to)[4], const char* row) {
  std::ranges::copy(host_cuda::matrices(row, false), to);
}
inline void load_transposed(unsigned (&to)[4], const char* row) {
  std::ranges::copy(host_cuda::matrices(row, true), to);
}
inline void multiply(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  static host_cuda::exchange<std::array<unsigned, 6>> fragments;
  const auto all = fragments.all({a[0], a[1], a[2], a[3], b0, b1});
  const unsigned lane = host_cuda::current->index.x % 32;
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned row = lane / 4 + i / 2 * 8;
    const unsigned column = lane % 4 * 2 + i % 2;
    for (unsigned k = 0; k < 16; ++k) {
      const auto& left = all[row % 8 * 4 + k % 8 / 2];
      const auto& right = all[column * 4 + k % 8 / 2];
      c[i] += host_cuda::real(left[row / 8 + k / 8 * 2], k % 2) * host_cuda::real(right[4 + k / 8], k % 2);
    }
  }
}
inline unsigned packed(float low, float high) {
  const auto rounded = [](float x) {
    const auto bits = std::bit_cast<unsigned>(x);
    return (bits + 0x7fffU + (bits >> 16U & 1U)) >> 16U;
  };
  return rounded(low) | rounded(high) << 16U;
}
inline float power_of_2(float x) {
  return std::exp2(x);
}
inline float from_lane_xor(float x, unsigned other) {
  static host_cuda::exchange<float> values;
  return values.all(x)[host_cuda::current->index.x % 32 ^ other];
}
