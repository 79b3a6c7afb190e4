#pragma once
// Scales measures to comparable units, for archives that use distances.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <kevo/archive/grid.hpp>
#include <kevo/error.hpp>

namespace kevo {

/// A measure and the unit of distances in it: the ends of its range are at distance 1, on a linear or a
/// logarithmic scale.
struct measure_range {
  std::string measure;                    ///< name of the measure
  double low = 0;                         ///< lower end of the range; above 0 if the scale is logarithmic
  double high = 1;                        ///< upper end of the range
  axis_scale scale = axis_scale::linear;  ///< distances of values or of their logarithms

  /// The value scaled from [low, high] to [0, 1]. Values outside the range count as its ends. An unknown
  /// value (NaN) is -1, which is at least 1 away from every known value.
  double unit(double value) const {
    if (std::isnan(value)) return -1;
    const double inside = std::clamp(value, low, high);
    return scale == axis_scale::log ? std::log(inside / low) / std::log(high / low)
                                    : (inside - low) / (high - low);
  }
};

/// Throws kevo::error (input) if there are no measures, for an empty range, and for a logarithmic range that
/// does not begin above 0.
inline void check(const std::vector<measure_range>& ranges) {
  if (ranges.empty()) throw error(error_code::input, "an archive of distances needs at least one measure");
  for (const measure_range& r : ranges) {
    const bool fits = r.low < r.high && std::isfinite(r.low) && std::isfinite(r.high);
    if (!fits || (r.scale == axis_scale::log && !(r.low > 0))) {
      throw error(error_code::input, "the range must be [low, high] with low < high, above 0 if logarithmic",
                  {{}, 0, 0, r.measure});
    }
  }
}

/// The point of the given measures, in the order of `ranges`; missing ones count as unknown.
inline std::vector<double> unit_point(const std::vector<measure_range>& ranges,
                                      std::span<const double> measures) {
  std::vector<double> point;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    point.push_back(i < measures.size() ? ranges[i].unit(measures[i]) : -1);
  }
  return point;
}

}  // namespace kevo
