#include "fitness/oracle/sum_bound.hpp"

#include <algorithm>
#include <cmath>

namespace kevo {
namespace {

// The unit roundoff to which hardware or programs round the factors of a product when they cut corners: that
// of TF32 and float16 for float32. 0: no bound can tell that from honest sums.
double coarser_roundoff(const element_type& type) {
  if (type.name == "float64") return 0x1p-24;
  if (type.name == "float32") return 0x1p-11;
  return 0;
}

}  // namespace

sum_bound bound_sums(const element_type& type, const tolerance& rule, std::int64_t length) {
  sum_bound bound;
  bound.summands = std::max(1.0, static_cast<double>(length));
  const double root = std::sqrt(bound.summands);
  const double unit = rule.factor * type.unit_roundoff;
  bound.slope = unit * root;
  bound.cancelling = bound.slope;
  bound.underflow = bound.summands * type.smallest;
  if (const double coarser = coarser_roundoff(type); coarser > 0)
    bound.cancelling = std::min(bound.slope, std::max(2 * unit, rule.factor / 8 * coarser / root));
  return bound;
}

bool has_random_signs(const generator& resolved) {
  if (resolved.kind == "normal") return resolved.a == 0 && resolved.b > 0;
  return resolved.kind == "uniform" && resolved.b > 0 && resolved.a == -resolved.b;
}

bool sums_cancel(const sum_bound& bound, double results, double scales) {
  // 1.6 is what products of normal numbers give for the root of this ratio, and 1.25 what normal numbers do.
  constexpr double most = 2;
  return bound.summands * results <= most * most * scales;
}

}  // namespace kevo
