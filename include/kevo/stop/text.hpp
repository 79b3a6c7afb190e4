#pragma once
// What the stop rules share: shares of budgets, their parts, and numbers as people write them.

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include <kevo/stop.hpp>

namespace kevo::stop {

/// The part of `limit` that `now` has used up, in [0, 1].
template <class Now, class Limit>
double share(Now now, Limit limit) {
  if (!(static_cast<double>(limit) > 0)) return 1;
  return std::clamp(static_cast<double>(now) / static_cast<double>(limit), 0.0, 1.0);
}

/// The one part of a rule with one limit.
template <class Now, class Limit>
std::vector<stop_part> one_part(std::string name, Now now, Limit limit) {
  return {{std::move(name), static_cast<double>(now), static_cast<double>(limit)}};
}

/// "2.5", "120", "0.001"
inline std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

/// "1 evaluation", "400 evaluations"
template <class Count>
std::string counted(Count n, const std::string& what) {
  return std::to_string(n) + ' ' + what + (n == 1 ? "" : "s");
}

}  // namespace kevo::stop
