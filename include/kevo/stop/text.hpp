#pragma once
// Helper functions of the stop rules: shares of budgets, their parts, and texts of numbers.

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include <kevo/stop.hpp>

namespace kevo::stop {

/// The share of `limit` that `now` has used, in [0, 1]; 1 if `limit` is not positive.
template <class Now, class Limit>
double share(Now now, Limit limit) {
  if (!(static_cast<double>(limit) > 0)) return 1;
  return std::clamp(static_cast<double>(now) / static_cast<double>(limit), 0.0, 1.0);
}

/// The list of parts of a rule with one limit.
template <class Now, class Limit>
std::vector<stop_part> one_part(std::string name, Now now, Limit limit) {
  return {{std::move(name), static_cast<double>(now), static_cast<double>(limit)}};
}

/// The shortest text of a number with at most 6 significant digits: "2.5", "120", "0.001".
inline std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

/// A count with its noun, in the plural unless the count is 1: "1 evaluation", "400 evaluations".
template <class Count>
std::string counted(Count n, const std::string& what) {
  return std::to_string(n) + ' ' + what + (n == 1 ? "" : "s");
}

}  // namespace kevo::stop
