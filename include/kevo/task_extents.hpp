#pragma once
// Evaluates the sizes of a task for one workload: the values of its axes, the extents of tensors and the
// bounds of generators.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <kevo/expression.hpp>
#include <kevo/task.hpp>

namespace kevo {

/// The values of all constant and variable axes in the workload `w`, by name. Variable axes to which `w`
/// gives no value are left out.
inline std::map<std::string, std::int64_t> axis_values(const task& t, const workload& w) {
  auto values = w.axes;
  for (const auto& a : t.axes) {
    if (a.value) values[a.name] = *a.value;
  }
  return values;
}

/// The extents of a tensor for given axis values; empty for scalars. Axes without a value count as 0.
/// @throws kevo::error (input) if an expression of the shape has no value (overflow, division by zero)
inline std::vector<std::int64_t> extents(const tensor& t, const std::map<std::string, std::int64_t>& values) {
  std::vector<std::int64_t> result;
  const auto value_of = [&](std::string_view name) -> std::optional<std::int64_t> {
    const auto it = values.find(std::string(name));
    return it == values.end() ? 0 : it->second;
  };
  for (const auto& extent : t.shape) {
    const auto it = values.find(extent);
    result.push_back(it != values.end() ? it->second : expression::parse(extent).evaluate(value_of));
  }
  return result;
}

/// The generator with `a_of` and `b_of` evaluated for given axis values and stored in `a` and `b`.
/// @throws kevo::error (input) if an expression has no value
inline generator resolved(generator g, const std::map<std::string, std::int64_t>& values) {
  const auto value_of = [&](std::string_view name) -> std::optional<std::int64_t> {
    const auto it = values.find(std::string(name));
    return it == values.end() ? std::nullopt : std::optional(it->second);
  };
  if (g.a_of) g.a = static_cast<double>(g.a_of->evaluate(value_of));
  if (g.b_of) g.b = static_cast<double>(g.b_of->evaluate(value_of));
  g.a_of.reset(), g.b_of.reset();
  return g;
}

}  // namespace kevo
