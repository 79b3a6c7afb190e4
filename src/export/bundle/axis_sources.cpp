#include "src/export/bundle/axis_sources.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace kevo::bundle {
namespace {

std::optional<input_extent> extent_with(const task& t, const std::string& axis) {
  for (const auto& input : t.inputs) {
    for (std::size_t i = 0; i < input.shape.size(); ++i) {
      if (!input.scalar && input.shape[i] == axis) return input_extent{input.name, i};
    }
  }
  return std::nullopt;
}

// The right side of a constraint "AXIS == expression"; nothing if it is another one.
std::optional<expression> determined_by(const expression& constraint, const std::string& axis) {
  const auto& text = constraint.text();
  const auto at = text.find("==");
  if (at == std::string::npos || text.find("==", at + 2) != std::string::npos) return std::nullopt;
  if (text.find_first_of("&|?", 0) != std::string::npos) return std::nullopt;
  auto left = text.substr(0, at);
  left.erase(std::remove(left.begin(), left.end(), ' '), left.end());
  if (left != axis) return std::nullopt;
  return expression::parse(text.substr(at + 2));
}

std::optional<expression> rule_of(const task& t, const std::string& axis) {
  for (const auto& constraint : t.constraints) {
    if (auto rule = determined_by(constraint, axis)) return rule;
  }
  return std::nullopt;
}

}  // namespace

std::vector<axis_source> axis_sources(const task& t) {
  std::vector<axis_source> found;
  std::vector<axis_source> open;
  std::set<std::string> known;
  const auto add = [&](axis_source source) {
    known.insert(source.name);
    found.push_back(std::move(source));
  };
  for (const auto& axis : t.axes) {
    axis_source source{axis.name, axis.value, {}, {}};
    if (!axis.value) source.extent = extent_with(t, axis.name);
    if (!source.is_asked()) {
      add(std::move(source));
      continue;
    }
    source.rule = rule_of(t, axis.name);
    if (source.rule)
      open.push_back(std::move(source));
    else
      add(std::move(source));
  }
  const auto follows = [&](const axis_source& source) {
    const auto& names = source.rule->names();
    return std::all_of(names.begin(), names.end(), [&](const auto& name) { return known.contains(name); });
  };
  while (!open.empty()) {
    auto next = std::find_if(open.begin(), open.end(), follows);
    if (next == open.end()) {  // rules that need each other: one of their axes is asked for
      next = open.begin();
      next->rule.reset();
    }
    add(*next);
    open.erase(next);
  }
  return found;
}

}  // namespace kevo::bundle
