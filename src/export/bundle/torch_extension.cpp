// A PyTorch function that calls the launcher of a bundle.

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <kevo/expression.hpp>

#include "src/export/bundle/bundle_parts.hpp"
#include "src/export/bundle/cuda_launcher.hpp"
#include "src/export/bundle/expression_text.hpp"

namespace kevo::bundle {
namespace {

std::string scalar_type(const std::string& dtype) {
  const std::map<std::string, std::string> known = {{"float64", "at::kDouble"}, {"float32", "at::kFloat"},
                                                    {"float16", "at::kHalf"},   {"bfloat16", "at::kBFloat16"},
                                                    {"int64", "at::kLong"},     {"int32", "at::kInt"},
                                                    {"int16", "at::kShort"},    {"int8", "at::kChar"},
                                                    {"uint8", "at::kByte"},     {"bool", "at::kBool"}};
  const auto found = known.find(dtype);
  return found == known.end() ? std::string() : found->second;
}

// Where the size of an axis can be read: "A.size(0)"; empty if no input has it as an extent.
std::string size_of_axis(const task& t, const std::string& axis) {
  for (const auto& input : t.inputs) {
    for (std::size_t i = 0; i < input.shape.size(); ++i) {
      if (!input.scalar && input.shape[i] == axis) return fmt::format("{}.size({})", input.name, i);
    }
  }
  return {};
}

bool is_constant(const task& t, const std::string& axis) {
  return std::any_of(t.axes.begin(), t.axes.end(),
                     [&](const auto& one) { return one.name == axis && one.value; });
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

/// Where the values of the axes come from.
struct axis_sources {
  std::vector<std::string> asked;                           ///< the caller gives them
  std::vector<std::pair<std::string, std::string>> values;  ///< all axes in C++, those first that others need
};

// An axis is a constant, the extent of an input, or follows from others by a constraint; the rest is asked
// for.
axis_sources sizes_of(const task& t) {
  axis_sources result;
  std::set<std::string> known;
  std::vector<std::string> open;
  const auto add = [&](const std::string& axis, const std::string& value) {
    result.values.emplace_back(axis, value);
    known.insert(axis);
  };
  for (const auto& axis : t.axes) {
    const auto size = axis.value ? std::to_string(*axis.value) : size_of_axis(t, axis.name);
    if (!size.empty()) add(axis.name, size);
    if (size.empty()) open.push_back(axis.name);
  }
  const auto rule_of = [&](const std::string& axis) -> std::optional<expression> {
    for (const auto& constraint : t.constraints) {
      if (auto rule = determined_by(constraint, axis)) return rule;
    }
    return std::nullopt;
  };
  const auto follows = [&](const std::string& axis) {
    const auto rule = rule_of(axis);
    return rule && std::all_of(rule->names().begin(), rule->names().end(),
                               [&](const auto& name) { return known.contains(name); });
  };
  const auto ask = [&](const std::string& axis) {
    result.asked.push_back(axis);
    add(axis, axis);
  };
  for (const auto& axis : open) {
    if (!rule_of(axis)) ask(axis);
  }
  std::erase_if(open, [&](const auto& axis) { return known.contains(axis); });
  while (!open.empty()) {
    const auto next = std::find_if(open.begin(), open.end(), follows);
    if (next == open.end()) {
      ask(open.front());
      open.erase(open.begin());
    } else {
      add(*next, integer_text(*rule_of(*next)));
      open.erase(next);
    }
  }
  return result;
}

}  // namespace

std::string add_torch_extension(const bundled& b, folder_text& files) {
  const auto& t = *b.what;
  std::string parameters;
  std::string arguments;
  std::string words;
  std::string body = fmt::format("  {}::arguments a;\n", b.name);
  for (const auto& input : t.inputs) {
    if (input.scalar) return "it has scalar inputs";
    const auto type = scalar_type(input.dtype);
    if (type.empty()) return "PyTorch has no type " + input.dtype;
    parameters += (parameters.empty() ? "" : ", ") + fmt::format("const at::Tensor& {}", input.name);
    arguments += fmt::format(", pybind11::arg(\"{}\")", input.name);
    words += (words.empty() ? "" : ", ") + input.name;
    body += fmt::format(
        "  TORCH_CHECK({0}.is_cuda() && {0}.is_contiguous() && {0}.scalar_type() == {1} && {0}.dim() == "
        "{2},\n"
        "              \"{0} must be a dense tensor of {3} with {2} dimensions on a GPU\");\n"
        "  a.{0} = static_cast<const {4}*>({0}.data_ptr());\n",
        input.name, type, input.shape.size(), input.dtype, cpp_type(input.dtype));
  }
  if (parameters.empty()) return "it has no inputs";
  const auto sizes = sizes_of(t);
  for (const auto& name : sizes.asked) {
    parameters += fmt::format(", std::int64_t {}", name);
    arguments += fmt::format(", pybind11::arg(\"{}\")", name);
    words += ", " + name;
  }
  for (const auto& [name, value] : sizes.values) {
    body += fmt::format("  [[maybe_unused]] const whole {} = {};\n", variable(name), value);
    if (!is_constant(t, name)) body += fmt::format("  a.{0} = {1}.value();\n", name, variable(name));
  }
  for (const auto& input : t.inputs) {
    for (std::size_t i = 0; i < input.shape.size(); ++i) {
      body +=
          fmt::format("  TORCH_CHECK({0}.size({1}) == ({2}).value(), \"extent {1} of {0} must be {3}\");\n",
                      input.name, i, integer_text(expression::parse(input.shape[i])), input.shape[i]);
    }
  }
  for (const auto& condition : t.constraints)
    body += fmt::format("  TORCH_CHECK(bool({}), \"the sizes must satisfy {}\");\n", integer_text(condition),
                        condition.text());
  std::string results;
  const auto& first = t.inputs.front().name;
  for (const auto& output : t.outputs) {
    const auto type = scalar_type(output.dtype);
    if (type.empty()) return "PyTorch has no type " + output.dtype;
    std::string extents;
    for (const auto& extent : output.shape)
      extents += (extents.empty() ? "" : ", ") +
                 fmt::format("({}).value()", integer_text(expression::parse(extent)));
    body += fmt::format(
        "  at::Tensor {0} = at::empty({{{1}}}, {2}.options().dtype({3}));\n"
        "  a.{0} = static_cast<{4}*>({0}.data_ptr());\n",
        output.name, extents, first, type, cpp_type(output.dtype));
    results += (results.empty() ? "" : ", ") + output.name;
  }
  const auto values = {std::pair<const std::string, std::string>{"name", b.name},
                       {"about", t.name},
                       {"parameters", parameters},
                       {"arguments", arguments},
                       {"words", words},
                       {"body", body},
                       {"results", results},
                       {"first", first}};
  files["torch/binding.cpp"] = filled("torch_binding.cpp.in", values);
  files[fmt::format("torch/{}.py", b.name)] = filled("torch_extension.py.in", values);
  return {};
}

}  // namespace kevo::bundle
