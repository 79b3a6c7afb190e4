// kevo's own device code, compiled for the host: one thread carries out every launch. So the comparison, the
// poison and the generators that judge a candidate here are those that judge it on a GPU.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "tests/support/fake_cuda/kernels.hpp"

namespace fake_cuda {
namespace {

// What a GPU has and a host has not. The trusted kernels need no more.
struct dimensions {
  unsigned x = 1, y = 1, z = 1;
};
constexpr dimensions blockIdx{0, 0, 0}, threadIdx{0, 0, 0}, blockDim, gridDim;
struct uint4 {
  unsigned x, y, z, w;
};
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) {
  return {x, y, z, w};
}
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>((std::uint64_t{a} * b) >> 32U);
}
inline float __uint_as_float(unsigned word) {
  return std::bit_cast<float>(word);
}
inline unsigned __float_as_uint(float value) {
  return std::bit_cast<unsigned>(value);
}
inline long long __double_as_longlong(double value) {
  return std::bit_cast<long long>(value);
}
template <class T>
void atomicAdd(T* to, T value) {
  *to += value;
}
template <class T>
void atomicMin(T* to, T value) {
  *to = std::min(*to, value);
}
template <class T>
void atomicMax(T* to, T value) {
  *to = std::max(*to, value);
}
template <class T>
T __ldcs(const T* from) {
  return *from;
}
template <class T>
void __stcs(T* to, T value) {
  *to = value;
}
inline void __threadfence_system() {}
inline long long clock64() {
  return 0;
}
inline unsigned long long now_ns() {
  static unsigned long long time = 0;
  return time += 1000;
}
// Of binary16, rounded to nearest even.
inline float half_value(unsigned short h) {
  const int exponent = (h >> 10) & 31;
  const int mantissa = h & 1023;
  const float size = exponent == 31  ? (mantissa != 0 ? std::numeric_limits<float>::quiet_NaN()
                                                      : std::numeric_limits<float>::infinity())
                     : exponent == 0 ? std::ldexp(static_cast<float>(mantissa), -24)
                                     : std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25);
  return (h & 0x8000) != 0 ? -size : size;
}
inline unsigned short half_bits(double x) {
  const unsigned sign = std::signbit(x) ? 0x8000U : 0U;
  const double size = std::fabs(x);
  if (std::isnan(size)) return static_cast<unsigned short>(0x7fffU);
  // Halves are ordered as their bits are: the nearest of the two around.
  unsigned low = 0;
  unsigned high = 0x7c00;
  while (high - low > 1) {
    const unsigned middle = (low + high) / 2;
    (static_cast<double>(half_value(static_cast<unsigned short>(middle))) <= size ? low : high) = middle;
  }
  const double below = static_cast<double>(half_value(static_cast<unsigned short>(low)));
  const double above =
      high == 0x7c00 ? 65536.0 : static_cast<double>(half_value(static_cast<unsigned short>(high)));
  const bool up = size - below > above - size || (size - below == above - size && low % 2 == 1);
  return static_cast<unsigned short>(sign | (up ? high : low));
}
using std::isfinite;

#define KEVO_KIT_ON_HOST
#define INFINITY_ std::numeric_limits<double>::infinity()
#define __device__
#define __global__
#define __launch_bounds__(threads)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#include "fitness/cuda/device/trusted_kernels.cu"
#pragma GCC diagnostic pop

constexpr double bytes_per_ns = 4000;
constexpr double flops_per_ns = 60000;

/// A kernel that takes its time and whose work nobody looks at.
template <auto Function>
constexpr host_kernel only_time(double (*duration)(const stored_parameters&)) {
  return {as_kernel<Function>::save, [](const stored_parameters&, launch_shape) {}, duration};
}

}  // namespace

const host_kernel* find_trusted_kernel(std::string_view name) {
  static const std::pair<std::string_view, host_kernel> all[] = {
      {"kevo_block", as_kernel<kevo_block>::entry},
      {"kevo_barrier", as_kernel<kevo_barrier>::entry},
      {"kevo_ready", as_kernel<kevo_ready>::entry},
      {"kevo_mask", as_kernel<kevo_mask>::entry},
      {"kevo_generate", as_kernel<kevo_generate>::entry},
      {"kevo_poison", as_kernel<kevo_poison>::entry},
      {"kevo_check_poison", as_kernel<kevo_check_poison>::entry},
      {"kevo_differ", as_kernel<kevo_differ>::entry},
      {"kevo_in_order", as_kernel<kevo_in_order>::entry},
      {"kevo_compare", as_kernel<kevo_compare>::entry},
      {"kevo_compare_integers", as_kernel<kevo_compare_integers>::entry},
      {"kevo_sums", as_kernel<kevo_sums>::entry},
      {"kevo_finite", as_kernel<kevo_finite>::entry},
      {"kevo_occupy", as_kernel<kevo_occupy>::entry},
      {"kevo_nothing", only_time<kevo_nothing>([](const stored_parameters&) { return 0.0; })},
      {"kevo_clock", as_kernel<kevo_clock>::entry},
      {"kevo_flush_write", only_time<kevo_flush_write>([](const stored_parameters& p) {
         return 16 * static_cast<double>(stored<u64>(p, 1)) / bytes_per_ns;
       })},
      {"kevo_flush_read", only_time<kevo_flush_read>([](const stored_parameters& p) {
         return 16 * static_cast<double>(stored<u64>(p, 1)) / bytes_per_ns;
       })},
      {"kevo_copy", only_time<kevo_copy>([](const stored_parameters& p) {
         return 32 * static_cast<double>(stored<u64>(p, 2)) / bytes_per_ns;
       })},
      {"kevo_multiply_add", only_time<kevo_multiply_add>([](const stored_parameters& p) {
         return 32.0 * stored<int>(p, 3) * 256 * 16 * 132 / flops_per_ns;
       })},
  };
  for (const auto& [known, kernel] : all) {
    if (known == name) return &kernel;
  }
  return nullptr;
}

}  // namespace fake_cuda
