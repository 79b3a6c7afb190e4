#include "fitness/cascade/bounds.hpp"

#include <fmt/format.h>

#include "fitness/cascade/feedback.hpp"

namespace kevo {

std::string bounds_text(const task& t, const std::function<time_bound(std::size_t workload)>& of) {
  constexpr std::size_t most = 12;
  std::string text;
  std::size_t listed = 0;
  for (std::size_t i = 0; i < t.workloads.size() && listed < most; ++i) {
    if (t.workloads[i].hidden) continue;
    const time_bound bound = of(i);
    if (!(bound.longest() > 0)) continue;
    text += fmt::format("{}{} {} by {}", listed++ == 0 ? "" : ", ", t.workloads[i].uuid,
                        time_text(bound.longest()),
                        bound.by_operations_ns > bound.by_bytes_ns ? "operations" : "bytes");
  }
  return text;
}

}  // namespace kevo
