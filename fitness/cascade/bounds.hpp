#pragma once
// The roofline's bounds of a task in words, for people and models that write programs.

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>

#include <kevo/task.hpp>

namespace kevo {

/// What the work of one call takes at least. 0: unknown
struct time_bound {
  double by_operations_ns = 0;
  double by_bytes_ns = 0;
  double longest() const { return std::max(by_operations_ns, by_bytes_ns); }
};

/// "small 12.3 us by bytes, large 1.2 ms by operations": of the visible workloads, the first twelve; empty if
/// none is known.
std::string bounds_text(const task& t, const std::function<time_bound(std::size_t workload)>& of);

}  // namespace kevo
