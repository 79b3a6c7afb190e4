#pragma once
// Numbers in JSON, which has no infinity and no NaN.

#include <cmath>

#include <boost/json/value.hpp>

namespace kevo {

/// The number, or null if it is not finite. (Boost.JSON would write infinity as 1e99999.)
inline boost::json::value finite_or_null(double x) {
  return std::isfinite(x) ? boost::json::value(x) : boost::json::value(nullptr);
}

}  // namespace kevo
