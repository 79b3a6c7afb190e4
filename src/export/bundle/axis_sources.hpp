#pragma once
// From what a function of tensors learns the sizes of a task's axes.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <kevo/expression.hpp>
#include <kevo/task.hpp>

namespace kevo::bundle {

/// An extent of an input.
struct input_extent {
  std::string input;
  std::size_t index = 0;
};

/// Where the value of one axis comes from: the first of these that is set; the caller gives it if none is.
struct axis_source {
  std::string name;
  std::optional<std::int64_t> constant;
  std::optional<input_extent> extent;
  std::optional<expression> rule;  ///< of a constraint "AXIS == rule", over axes that stand before this one

  bool is_asked() const { return !constant && !extent && !rule; }
};

/// All axes of a task; those that others need stand before them. O(axes^2 * constraints).
std::vector<axis_source> axis_sources(const task& t);

}  // namespace kevo::bundle
