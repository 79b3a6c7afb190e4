#include "src/import/python_solution.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <fmt/format.h>

#include <kevo/error.hpp>

#include "src/base/text/utf8.hpp"

namespace kevo::importing {
namespace {

namespace json = boost::json;

[[noreturn]] void refuse(const std::string& why) {
  throw error(error_code::input, why);
}

std::string field_text(const json::object& o, std::string_view key) {
  const auto* found = o.if_contains(key);
  return found != nullptr && found->is_string() ? std::string(found->as_string()) : std::string();
}

const json::object& field_object(const json::object& o, std::string_view key) {
  const auto* found = o.if_contains(key);
  if (found == nullptr || !found->is_object()) refuse(fmt::format("'{}' is missing", key));
  return found->as_object();
}

bool is_identifier(std::string_view name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !name.empty() && letter(name[0]) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

std::string identifier(std::string_view name) {
  if (!is_identifier(name)) refuse(fmt::format("'{}' is not a valid name in Python", name));
  return std::string(name);
}

/// FlashInfer-Bench has one language, SOL-ExecBench a list.
void require_python(const json::object& spec) {
  std::vector<std::string> languages;
  if (const auto one = field_text(spec, "language"); !one.empty()) languages.push_back(one);
  if (const auto* list = spec.if_contains("languages"); list != nullptr && list->is_array()) {
    for (const auto& one : list->as_array())
      languages.push_back(one.is_string() ? std::string(one.as_string()) : "");
  }
  if (languages.empty()) refuse("it names no language");
  constexpr std::array<std::string_view, 3> known = {"python", "pytorch", "triton"};
  for (const auto& one : languages) {
    if (std::find(known.begin(), known.end(), one) == known.end())
      refuse(fmt::format(
          "it is written in '{}' and needs a binding that kevo does not have; kevo imports only solutions in "
          "Python and Triton",
          one));
  }
}

/// The extent of a shape's entry in Python: a constant, or the name of an axis that `known` gets a value for.
std::string extent_text(const json::value& extent, const json::object& axes,
                        const std::map<std::string, std::string>& known) {
  if (extent.is_int64()) return std::to_string(extent.as_int64());
  if (!extent.is_string()) refuse("the shape of an output is not a list of axes");
  const std::string name(extent.as_string());
  if (const auto* axis = axes.if_contains(name); axis != nullptr && axis->is_object()) {
    if (const auto* value = axis->as_object().if_contains("value"); value != nullptr && value->is_int64())
      return std::to_string(value->as_int64());
  }
  const auto found = known.find(name);
  if (found == known.end())
    refuse(
        fmt::format("it writes into outputs that it is given, and the axis '{}' of an output is not in the "
                    "shape of any input",
                    name));
  return found->second;
}

/// A function that makes the outputs, passes them behind the inputs and returns them.
std::string destination_wrapper(const json::object& definition, const std::string& entry) {
  const json::object& axes = field_object(definition, "axes");
  const json::object& inputs = field_object(definition, "inputs");
  std::string parameters;
  std::string device;
  std::map<std::string, std::string> known;  // axis -> expression
  for (const auto& [name, spec] : inputs) {
    const std::string one = identifier(std::string_view(name.data(), name.size()));
    parameters += (parameters.empty() ? "" : ", ") + one;
    if (!spec.is_object()) refuse("an input has no shape");
    const auto* shape = spec.as_object().if_contains("shape");
    if (shape == nullptr || !shape->is_array()) continue;  // a scalar
    if (device.empty()) device = one + ".device";
    for (std::size_t i = 0; i < shape->as_array().size(); ++i) {
      const auto& extent = shape->as_array()[i];
      if (extent.is_string())
        known.try_emplace(std::string(extent.as_string()), fmt::format("{}.shape[{}]", one, i));
    }
  }
  if (device.empty()) refuse("it writes into outputs that it is given, and no input is a tensor");
  std::string text =
      fmt::format("_kevo_solution = {}\n\n\ndef run({}):\n    import torch\n", entry, parameters);
  std::string outputs;
  for (const auto& [name, spec] : field_object(definition, "outputs")) {
    const std::string one = identifier(std::string_view(name.data(), name.size()));
    const json::object& output = spec.is_object() ? spec.as_object() : definition;
    const auto* shape = output.if_contains("shape");
    if (shape == nullptr || !shape->is_array())
      refuse("it writes into outputs that it is given, and one of them is a scalar");
    std::string extents;
    for (const auto& extent : shape->as_array()) extents += extent_text(extent, axes, known) + ", ";
    text += fmt::format("    {} = torch.empty(({}), dtype=torch.{}, device={})\n", one, extents,
                        identifier(field_text(output, "dtype")), device);
    outputs += (outputs.empty() ? "" : ", ") + one;
  }
  return text + fmt::format("    _kevo_solution({}, {})\n    return {}\n", parameters, outputs, outputs);
}

}  // namespace

std::string python_solution(const json::object& definition, const json::object& solution) {
  const json::object& spec = field_object(solution, "spec");
  require_python(spec);
  const auto* sources = solution.if_contains("sources");
  if (sources == nullptr || !sources->is_array() || sources->as_array().empty()) refuse("it has no sources");
  if (sources->as_array().size() > 1)
    refuse(fmt::format("it has {} source files, but kevo imports only solutions with one source file",
                       sources->as_array().size()));
  const auto& source = sources->as_array().front();
  if (!source.is_object()) refuse("it has no sources");
  const std::string entry_point = field_text(spec, "entry_point");
  const auto colon = entry_point.rfind("::");
  if (colon == std::string::npos) refuse("its entry point does not have the form FILE::FUNCTION");
  const std::string entry = identifier(entry_point.substr(colon + 2));
  std::string text = field_text(source.as_object(), "content");
  if (text.empty()) refuse("its source is empty");
  const auto* style = spec.if_contains("destination_passing_style");
  const bool destination = style == nullptr || !style->is_bool() || style->as_bool();  // their default
  if (!destination && entry == "run") return text;
  text += "\n\n# Added by kevo import: the entry point as kevo calls it.\n";
  return text + (destination ? destination_wrapper(definition, entry) : "run = " + entry + "\n");
}

}  // namespace kevo::importing
