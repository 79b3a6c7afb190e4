#pragma once
// Runs a hosted program's own kernels on the CPU, one thread after the other: kernels without barriers, as
// those that copy rows for a library. A program that is made of this header, a hosted program whose launches
// are written launch(kernel, ...)(arguments), and what stands for the library.

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <vector>

#define __global__
#define __device__

using std::max;
using std::min;

struct uint4 {
  unsigned x, y, z, w;
};
struct float2 {
  float x, y;
};
struct dim3 {
  unsigned x = 1, y = 1, z = 1;
  dim3(unsigned first = 1, unsigned second = 1, unsigned third = 1)
      : x(first), y(second), z(third) {}  // NOLINT
};
inline dim3 gridDim, blockDim, blockIdx, threadIdx;

using cudaStream_t = void*;
enum cudaError_t { cudaSuccess };
/// Full of numbers that nobody wrote: NaN.
inline cudaError_t cudaMalloc(void** to, std::size_t bytes) {
  *to = std::malloc(bytes);
  std::memset(*to, 0xff, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
  std::memset(to, value, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t) {
  return cudaMemset(to, value, bytes);
}
inline cudaError_t cudaGetLastError() {
  return cudaSuccess;
}
inline cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}

template <class Kernel>
auto launch(Kernel kernel, dim3 grid, dim3 block, std::size_t, cudaStream_t) {
  return [=](auto... arguments) {
    gridDim = grid;
    blockDim = block;
    for (blockIdx.y = 0; blockIdx.y < grid.y; ++blockIdx.y) {
      for (blockIdx.x = 0; blockIdx.x < grid.x; ++blockIdx.x) {
        for (threadIdx.x = 0; threadIdx.x < block.x; ++threadIdx.x) kernel(arguments...);
      }
    }
  };
}

using word = std::uint16_t;
/// Of 16 bits, in the type that FLOAT16 says.
inline float number(word x) {
#if FLOAT16
  return static_cast<float>(std::bit_cast<_Float16>(x));
#else
  return std::bit_cast<float>(static_cast<std::uint32_t>(x) << 16U);
#endif
}
/// Rounded to nearest.
inline word rounded(double value) {
#if FLOAT16
  return std::bit_cast<word>(static_cast<_Float16>(value));
#else
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  return static_cast<word>((bits + 0x7fffU + (bits >> 16U & 1U)) >> 16U);
#endif
}

struct __half {
  word x;
};
struct __half2 {
  __half x, y;
};
using __nv_bfloat16 = __half;
using __nv_bfloat162 = __half2;
inline float2 to_two_floats(__half2 x) {
  return {number(x.x.x), number(x.y.x)};
}
inline __half2 to_two_words(float2 x) {
  return {{rounded(x.x)}, {rounded(x.y)}};
}
#define __half22float2 to_two_floats
#define __bfloat1622float2 to_two_floats
#define __float22half2_rn to_two_words
#define __float22bfloat162_rn to_two_words
