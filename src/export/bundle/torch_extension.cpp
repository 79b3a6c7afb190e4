// A PyTorch function that calls the launcher of a bundle.

#include <map>
#include <utility>

#include <fmt/format.h>

#include <kevo/expression.hpp>

#include "src/export/bundle/axis_sources.hpp"
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

// How the function reads the value of an axis.
std::string value_text(const axis_source& axis) {
  if (axis.constant) return std::to_string(*axis.constant);
  if (axis.extent) return fmt::format("{}.size({})", axis.extent->input, axis.extent->index);
  return axis.rule ? integer_text(*axis.rule) : axis.name;
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
  const auto sizes = axis_sources(t);
  for (const auto& axis : sizes) {
    if (!axis.is_asked()) continue;
    parameters += fmt::format(", std::int64_t {}", axis.name);
    arguments += fmt::format(", pybind11::arg(\"{}\")", axis.name);
    words += ", " + axis.name;
  }
  for (const auto& axis : sizes) {
    body += fmt::format("  [[maybe_unused]] const whole {} = {};\n", variable(axis.name), value_text(axis));
    if (!axis.constant) body += fmt::format("  a.{0} = {1}.value();\n", axis.name, variable(axis.name));
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
