#pragma once
// What a program takes that is called for a while.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <variant>
#include <vector>

#include <kevo/evaluate/statistics.hpp>

#include "fitness/cascade/cascade.hpp"
#include "src/base/time/seconds_since.hpp"

namespace kevo {

/// The median of the last third of what `once` gives in so many seconds, or its first failure. [ns per call]
template <class Once>
std::variant<double, call_failure> sustained_time(double seconds, Once&& once) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<double> times;
  while (times.size() < 3 || seconds_since(start) < seconds) {
    std::variant<double, call_failure> one = once();
    if (std::holds_alternative<call_failure>(one)) return one;
    times.push_back(std::get<double>(one));
  }
  const auto last = static_cast<std::ptrdiff_t>(std::max<std::size_t>(1, times.size() / 3));
  return median({times.end() - last, times.end()});
}

}  // namespace kevo
