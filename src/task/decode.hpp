#pragma once
// Pieces of the task decoder that stand alone: expressions and tolerances.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <kevo/settings.hpp>
#include <kevo/task.hpp>

namespace kevo::task_decoding {

/// Fails: kevo knows this key and does not do it.
[[noreturn]] void not_supported_yet(const settings& reader, std::string_view key,
                                    const std::string& what = "this");

/// An expression that speaks of axes only. Integers count as expressions.
expression decode_expression(const settings_node& node, const std::vector<axis>& axes);

/// One tolerance for all outputs (under ""), or a map of them by output.
std::map<std::string, tolerance> decode_tolerances(settings& reader, const task& t);

/// Fails if a value is no word of letters, digits and '_' that starts with a letter.
void check_identifier(const std::string& name, const error_place& place, const std::string& what);

constexpr std::int64_t max_extent = std::int64_t{1} << 40U;

/// The axis of that name; null if there is none.
const axis* find_axis(const task& t, const std::string& name);

/// The names of tensors or axes, for hints.
template <class T>
std::vector<std::string> names_of(const std::vector<T>& things) {
  std::vector<std::string> names;
  names.reserve(things.size());
  for (const auto& thing : things) names.push_back(thing.name);
  return names;
}

}  // namespace kevo::task_decoding
