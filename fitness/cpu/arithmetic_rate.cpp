#include "fitness/cpu/arithmetic_rate.hpp"

#include <algorithm>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace kevo {
namespace {

// A tile instruction does 16 times the operations of the float32 units on bfloat16 and 32 times on int8.
constexpr double tiles_bfloat16 = 16;
constexpr double tiles_int8 = 32;
// Vector units: twice on 16-bit types, four times on 8-bit ones.
constexpr double vectors_narrow = 4;
// A float32 product needs three of two bfloat16 parts each at the least (six of three parts for its last
// bits);
constexpr double parts_of_float32 = 3;
// a float64 product needs 28 of 8-bit slices.
constexpr double slices_of_float64 = 28;

bool is_wide(const tensor& t) {
  return t.dtype == "float32" || t.dtype == "float64" || t.dtype == "int64" || t.dtype == "int32";
}

// Such errors may come of types narrower than the output's.
bool is_loose(const tolerance& t) {
  return t.rule == "finite" ||
         (t.rule == "bounds" && (t.max_rtol > 1e-4 || t.max_atol > 1e-4 || t.required_matched_ratio < 0.99));
}

}  // namespace

bool has_tile_registers() {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned tile = 1U << 24U;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (d & tile) == 0) return false;
  constexpr unsigned enabled_by_kernel = 1U << 27U;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & enabled_by_kernel) == 0) return false;
  unsigned low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  constexpr unsigned tile_state = 3U << 17U;
  return (low & tile_state) == tile_state;
#else
  return false;
#endif
}

double arithmetic_rate(const task& t, bool tiles) {
  const bool narrow = !std::all_of(t.inputs.begin(), t.inputs.end(), is_wide) ||
                      !std::all_of(t.outputs.begin(), t.outputs.end(), is_wide) ||
                      std::any_of(t.tolerances.begin(), t.tolerances.end(),
                                  [](const auto& one) { return is_loose(one.second); });
  if (narrow) return tiles ? tiles_int8 : vectors_narrow;
  const auto& type = t.outputs.front().dtype;
  if (type == "float64") return tiles ? 2 * tiles_int8 / slices_of_float64 : 0.5;
  if (type == "float32") return tiles ? tiles_bfloat16 / parts_of_float32 : 1.0;
  return tiles ? tiles_int8 : vectors_narrow;  // integers: their values may be narrower than their type
}

}  // namespace kevo
