#include "src/import/reduced_workload.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <kevo/task_extents.hpp>

#include "fitness/oracle/signature.hpp"

namespace kevo::importing {
namespace {

constexpr std::int64_t smallest_axis = 8;

bool fulfils_constraints(const task& t, const workload& w) {
  const auto axes = axis_values(t, w);
  return std::all_of(t.constraints.begin(), t.constraints.end(), [&](const expression& e) {
    return e.evaluate([&](std::string_view name) -> std::optional<std::int64_t> {
      const auto it = axes.find(std::string(name));
      return it == axes.end() ? std::nullopt : std::optional(it->second);
    }) != 0;
  });
}

}  // namespace

double elements_of(const task& t, const workload& w) {
  const auto axes = axis_values(t, w);
  double count = 0;
  for (const auto* tensors : {&t.inputs, &t.outputs}) {
    for (const auto& x : *tensors) {
      if (!x.scalar) count += static_cast<double>(element_count(x, axes));
    }
  }
  return count;
}

bool has_contents(const workload& w) {
  return std::any_of(w.inputs.begin(), w.inputs.end(),
                     [](const auto& named) { return named.second.contents != nullptr; });
}

workload reduced_workload(const task& t, const workload& w, double elements) {
  workload made = w;
  if (has_contents(w)) return made;
  for (double now = elements_of(t, made); now > elements;) {
    std::optional<workload> best;
    std::int64_t longest = 0;
    double least = 0.98 * now;  // less is not worth another size
    for (const auto& [name, value] : made.axes) {
      if (value < 2 * smallest_axis) continue;
      workload one = made;
      one.axes[name] = value / 2;
      const double count = elements_of(t, one);
      const bool better = count < least || (count == least && value > longest);
      if (!better || !fulfils_constraints(t, one)) continue;
      least = count;
      longest = value;
      best = std::move(one);
    }
    if (!best) break;
    made = std::move(*best);
    now = least;
  }
  return made;
}

}  // namespace kevo::importing
