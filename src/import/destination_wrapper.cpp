#include "src/import/destination_wrapper.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>
#include <fmt/format.h>

#include <kevo/error.hpp>

namespace kevo::importing {
namespace {

namespace json = boost::json;

[[noreturn]] void cannot_wrap(const std::string& why) {
  throw error(error_code::input, why);
}

const json::object& definition_part(const json::object& definition, std::string_view key) {
  const auto* found = definition.if_contains(key);
  if (found == nullptr || !found->is_object()) cannot_wrap(fmt::format("'{}' is missing", key));
  return found->as_object();
}

bool begins_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool continues_name(char c) {
  return begins_name(c) || (c >= '0' && c <= '9');
}

/// The value of an axis in Python: a constant, or what `known` has for it.
std::string axis_text(const std::string& name, const json::object& axes,
                      const std::map<std::string, std::string>& known) {
  if (const auto* axis = axes.if_contains(name); axis != nullptr && axis->is_object()) {
    if (const auto* value = axis->as_object().if_contains("value"); value != nullptr && value->is_int64())
      return std::to_string(value->as_int64());
  }
  const auto found = known.find(name);
  if (found == known.end())
    cannot_wrap(
        fmt::format("it writes into outputs that it is given, and the axis '{}' of an output is not in the "
                    "shape of any input",
                    name));
  return found->second;
}

/// The extent of a shape's entry in Python: a constant, an axis, or an expression of axes (`N / 2`, whose
/// division is that of integers).
std::string extent_text(const json::value& extent, const json::object& axes,
                        const std::map<std::string, std::string>& known) {
  if (extent.is_int64()) return std::to_string(extent.as_int64());
  if (!extent.is_string()) cannot_wrap("the shape of an output is not a list of axes");
  const std::string_view given = extent.as_string();
  std::string text;
  for (std::size_t i = 0; i < given.size();) {
    std::size_t end = i + 1;
    while (begins_name(given[i]) && end < given.size() && continues_name(given[end])) ++end;
    const std::string part(given.substr(i, end - i));
    text += begins_name(given[i]) ? axis_text(part, axes, known) : part == "/" ? "//" : part;
    i = end;
  }
  return text;
}

}  // namespace

std::string python_name(std::string_view name) {
  if (name.empty() || !begins_name(name[0]) || !std::all_of(name.begin(), name.end(), continues_name))
    cannot_wrap(fmt::format("'{}' is not a valid name in Python", name));
  return std::string(name);
}

std::string destination_wrapper(const json::object& definition) {
  const json::object& axes = definition_part(definition, "axes");
  std::string parameters;
  std::string device;
  std::map<std::string, std::string> known;  // axis -> expression
  for (const auto& [name, spec] : definition_part(definition, "inputs")) {
    const std::string one = python_name(std::string_view(name.data(), name.size()));
    parameters += (parameters.empty() ? "" : ", ") + one;
    if (!spec.is_object()) cannot_wrap("an input has no shape");
    const auto* shape = spec.as_object().if_contains("shape");
    if (shape == nullptr || !shape->is_array()) continue;  // a scalar
    if (device.empty()) device = one + ".device";
    for (std::size_t i = 0; i < shape->as_array().size(); ++i) {
      const auto& extent = shape->as_array()[i];
      if (extent.is_string())
        known.try_emplace(std::string(extent.as_string()), fmt::format("{}.shape[{}]", one, i));
    }
  }
  if (device.empty()) cannot_wrap("it writes into outputs that it is given, and no input is a tensor");
  std::string text = fmt::format("\n\ndef run({}):\n    import torch\n", parameters);
  std::string outputs;
  for (const auto& [name, spec] : definition_part(definition, "outputs")) {
    const std::string one = python_name(std::string_view(name.data(), name.size()));
    const json::object& output = spec.is_object() ? spec.as_object() : definition;
    const auto* shape = output.if_contains("shape");
    if (shape == nullptr || !shape->is_array())
      cannot_wrap("it writes into outputs that it is given, and one of them is a scalar");
    std::string extents;
    for (const auto& extent : shape->as_array()) extents += extent_text(extent, axes, known) + ", ";
    const auto* dtype = output.if_contains("dtype");
    text += fmt::format(
        "    {} = torch.empty(({}), dtype=torch.{}, device={})\n", one, extents,
        python_name(dtype != nullptr && dtype->is_string() ? std::string_view(dtype->as_string()) : ""),
        device);
    outputs += (outputs.empty() ? "" : ", ") + one;
  }
  return text + fmt::format("    _kevo_solution({}, {})\n    return {}\n", parameters, outputs, outputs);
}

}  // namespace kevo::importing
