#include "src/export/bundle/cuda_launcher.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <kevo/dtype.hpp>
#include <kevo/error.hpp>

#include "fitness/cuda/launch/environment.hpp"
#include "src/export/bundle/comment_text.hpp"
#include "src/export/bundle/expression_text.hpp"
#include "src/export/bundle/launcher_header.hpp"
#include "src/export/bundle/tensor_map_text.hpp"

namespace kevo::bundle {
namespace {

using cuda::launch_line;
using cuda::statement_line;

[[noreturn]] void not_yet(const statement_line& line, const std::string& what) {
  throw error(error_code::input, what + " cannot be part of a bundle yet", line.place,
              "export another candidate with --candidate N, or the sources with --format jsonl");
}

std::string last_component(const std::string& kernel) {
  const auto at = kernel.rfind("::");
  return at == std::string::npos ? kernel : kernel.substr(at + 2);
}

class writer {
 public:
  explicit writer(const launcher_parts& parts)
      : parts_(parts), fixed_(*parts.lines, *parts.signature, *parts.facts, false) {
    for (const auto* tensors : {&parts.signature->inputs, &parts.signature->outputs}) {
      for (const auto& t : *tensors) buffers_.emplace(t.name, t.dtype);
    }
    for (const auto& line : parts.lines->statements) {
      if (const auto* space = std::get_if<cuda::workspace_line>(&line.body))
        buffers_.emplace(space->id.text, std::string(space->type.name));
      if (const auto* map = std::get_if<cuda::tensor_map_line>(&line.body)) maps_.insert(map->id.text);
    }
  }

  std::string source() const;

 private:
  bool is_constant(const std::string& axis) const { return parts_.signature->constants.contains(axis); }
  std::string names() const;
  std::string occupancies() const;
  std::string workspaces() const;
  std::string tensor_maps() const;
  std::string statements() const;
  std::size_t kernel_of(const launch_line& launch, const statement_line& line) const;
  std::string launch_of(const launch_line& launch, const statement_line& line) const;
  std::string memset_of(const cuda::memset_line& set) const;
  std::string plain(const cuda::plain_argument& argument, const cuda::kernel_parameter& parameter) const;
  std::string typed(const cuda::typed_argument& argument, const statement_line& line) const;

  const launcher_parts& parts_;
  cuda::detail::environment fixed_;
  std::map<std::string, std::string> buffers_;  // dtype by name
  std::set<std::string> maps_;
};

std::string writer::names() const {
  std::string text;
  const auto add = [&](const std::string& type, const std::string& name, const std::string& value) {
    text += fmt::format("  [[maybe_unused]] const {} {} = {};\n", type, variable(name), value);
  };
  for (const auto& [name, value] : parts_.signature->axes)
    add("whole", name, is_constant(name) ? std::to_string(value) : "a." + name);
  for (const auto& [name, value] : parts_.lines->tunables) {
    if (fixed_.find(name, nullptr)) add("whole", name, std::to_string(*fixed_.find(name, nullptr)));
  }
  for (const auto& t : parts_.signature->scalars) {
    const auto type = find_dtype(t.dtype);
    if (type && (type->kind != dtype_kind::real || type->size > 2))
      add(type->kind == dtype_kind::real ? "double" : "whole", t.name, "a." + t.name);
  }
  add("whole", "device.sms", "device_attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)");
  for (const auto* tensors : {&parts_.signature->inputs, &parts_.signature->outputs}) {
    for (const auto& t : *tensors) {
      text += fmt::format("  [[maybe_unused]] const auto at_{} = reinterpret_cast<CUdeviceptr>(a.{});\n",
                          t.name, t.name);
    }
  }
  return text;
}

std::size_t writer::kernel_of(const launch_line& launch, const statement_line& line) const {
  const auto name = cuda::detail::kernel_name(launch, *parts_.lines, fixed_, nullptr);
  const auto& kernels = parts_.code->kernels;
  const auto found =
      std::find_if(kernels.begin(), kernels.end(), [&](const auto& one) { return one.name == name; });
  if (found == kernels.end()) not_yet(line, "the kernel '" + name + "', whose name depends on a loop,");
  return static_cast<std::size_t>(found - kernels.begin());
}

std::string extents(const char* field, const cuda::dim3_line& values) {
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i)
    text += fmt::format("        s.{}[{}] = {};\n", field, i, integer_text(values[i]));
  return text;
}

// Block and shared memory, on which the occupancy depends.
std::string block_of(const launch_line& launch) {
  std::string text = "        launch_shape s;\n" + extents("block", launch.block);
  if (launch.shared_bytes) text += "        s.shared_bytes = " + integer_text(*launch.shared_bytes) + ";\n";
  return text;
}

std::string shape_of(const launch_line& launch) {
  std::string text = block_of(launch) + extents("grid", launch.grid);
  if (!launch.cluster.empty()) text += "        for (whole& extent : s.cluster) extent = 1;\n";
  text += extents("cluster", launch.cluster);
  if (launch.cooperative) text += "        s.cooperative = true;\n";
  if (launch.carveout) text += "        s.carveout = narrow<int>(" + integer_text(*launch.carveout) + ");\n";
  return text;
}

std::string condition_of(const statement_line& line) {
  return line.condition ? integer_text(*line.condition) : "true";
}

// The first line that launches a kernel on these sizes answers.
std::string writer::occupancies() const {
  std::map<std::string, std::string> bodies;
  for (const auto& line : parts_.lines->statements) {
    const auto* launch = std::get_if<launch_line>(&line.body);
    if (launch == nullptr) continue;
    const auto index = line.loop ? fmt::format("        const whole {} = {};\n", variable(line.loop->id.text),
                                               integer_text(line.loop->from))
                                 : std::string();
    bodies[last_component(launch->kernel.text)] += fmt::format(
        "      if ({}) {{\n{}{}        return blocks_per_multiprocessor(code.kernel({}), s);\n      }}\n",
        condition_of(line), index, block_of(*launch), kernel_of(*launch, line));
  }
  std::string text;
  for (const auto& [kernel, body] : bodies) {
    const auto asked = "occupancy(" + kernel + ")";
    bool used = false;
    for (const auto& line : parts_.lines->statements) {
      cuda::detail::for_each_expression(line, [&](const expression& e) {
        used = used || std::find(e.names().begin(), e.names().end(), asked) != e.names().end();
      });
    }
    if (!used) continue;
    const auto name = variable(asked);
    text += fmt::format(
        "  const auto {} = [&]() -> whole {{\n{}      throw std::domain_error(\"no line launches {} for "
        "these "
        "sizes\");\n  }};\n",
        name.substr(0, name.size() - 2), body, kernel);
  }
  return text;
}

std::string writer::workspaces() const {
  std::string text;
  for (const auto& line : parts_.lines->statements) {
    const auto* space = std::get_if<cuda::workspace_line>(&line.body);
    if (space == nullptr) continue;
    std::string elements = "whole(1)";
    for (const auto& extent : space->shape) elements += " * (" + integer_text(extent) + ")";
    const auto alignment =
        space->align ? "greatest(whole(256), " + integer_text(*space->align) + ")" : std::string("256");
    const auto& id = space->id.text;
    text += fmt::format(
        "  // line {}: {}\n  [[maybe_unused]] const whole elements_{} = {};\n"
        "  [[maybe_unused]] const CUdeviceptr at_{} = ({}) ? space.take(elements_{}, {}, {}) : 0;\n",
        line.place.line, in_comment(line.text), id, elements, id, condition_of(line), id, space->type.size,
        alignment);
  }
  return text;
}

std::string writer::tensor_maps() const {
  std::string text;
  for (const auto& line : parts_.lines->statements) {
    const auto* map = std::get_if<cuda::tensor_map_line>(&line.body);
    if (map == nullptr) continue;
    const auto found = buffers_.find(map->buffer.text);
    text +=
        fmt::format("  // line {}: {}\n  CUtensorMap map_{} = {{}};\n  if ({})\n    map_{} = {};\n",
                    line.place.line, in_comment(line.text), map->id.text, condition_of(line), map->id.text,
                    tensor_map_text(*map, found == buffers_.end() ? "uint8" : found->second));
  }
  return text;
}

bool is_unsigned(std::string_view type) {
  return type.starts_with("unsigned") || type == "bool";
}

std::string writer::plain(const cuda::plain_argument& argument,
                          const cuda::kernel_parameter& parameter) const {
  if (argument.name) {
    const auto& name = argument.name->text;
    if (const auto found = buffers_.find(name); found != buffers_.end()) {
      if (!argument.offset) return "at_" + name;
      return fmt::format("at_{} + narrow<CUdeviceptr>(({}) * {})", name, integer_text(*argument.offset),
                         find_dtype(found->second)->size);
    }
    if (!argument.offset && maps_.contains(name)) return "map_" + name;
    for (const auto& scalar : parts_.signature->scalars) {
      if (!argument.offset && scalar.name == name) return "a." + name;
    }
  }
  const auto value = integer_text(*argument.value);
  if (parameter.type == "float" || parameter.type == "double")
    return fmt::format("static_cast<{}>(real({}))", parameter.type, value);
  return fmt::format("fitting({}, {}, {}, {})", value, parameter.size,
                     parameter.type.empty() || !is_unsigned(parameter.type),
                     parameter.type.empty() || is_unsigned(parameter.type));
}

std::string writer::typed(const cuda::typed_argument& argument, const statement_line& line) const {
  if (const auto* e = std::get_if<expression>(&argument.value)) {
    const bool is_signed = argument.type.kind == dtype_kind::integer;
    return fmt::format("fitting({}, {}, {}, {})", integer_text(*e), argument.type.size, is_signed,
                       !is_signed);
  }
  if (argument.type.size < 4) not_yet(line, "an argument of type " + std::string(argument.type.name));
  return fmt::format("static_cast<{}>({})", argument.type.cpp_type,
                     real_text(std::get<cuda::real_expression>(argument.value)));
}

std::string writer::launch_of(const launch_line& launch, const statement_line& line) const {
  if (launch.triton) not_yet(line, "a kernel in Triton");
  if (launch.programmatic) not_yet(line, "a launch with 'pdl'");
  const auto kernel = kernel_of(launch, line);
  const auto& compiled = parts_.code->kernels[kernel];
  std::string text = shape_of(launch);
  std::string pointers;
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    const auto& value = launch.arguments[i].value;
    std::string made = "CUdeviceptr{0}";
    if (const auto* one = std::get_if<cuda::plain_argument>(&value))
      made = plain(*one, compiled.parameters.at(i));
    if (const auto* one = std::get_if<cuda::typed_argument>(&value)) made = typed(*one, line);
    text += fmt::format("        auto p{} = {};\n", i, made);
    pointers += fmt::format("{}&p{}", i == 0 ? "" : ", ", i);
  }
  return text +
         fmt::format("        launch_kernel(code.kernel({}), s, {{{}}}, stream);\n        launched = true;\n",
                     kernel, pointers);
}

std::string writer::memset_of(const cuda::memset_line& set) const {
  const auto& name = set.buffer.text;
  std::string bytes;
  if (set.bytes) {
    bytes = integer_text(*set.bytes);
  } else if (const auto& all = parts_.what->outputs;
             std::any_of(all.begin(), all.end(), [&](const tensor& t) { return t.name == name; })) {
    const auto& output =
        *std::find_if(all.begin(), all.end(), [&](const tensor& t) { return t.name == name; });
    bytes = std::to_string(find_dtype(buffers_.at(name))->size);
    for (const auto& extent : output.shape) bytes += " * (" + integer_text(expression::parse(extent)) + ")";
  } else {
    bytes = fmt::format("elements_{} * {}", name, find_dtype(buffers_.at(name))->size);
  }
  return fmt::format(
      "        check(cuMemsetD8Async(at_{}, narrow<unsigned char>({}), narrow<std::size_t>(whole({})), "
      "stream), \"filling {}\");\n",
      name, integer_text(set.byte), bytes, name);
}

std::string writer::statements() const {
  std::string text;
  for (const auto& line : parts_.lines->statements) {
    std::string body;
    if (const auto* launch = std::get_if<launch_line>(&line.body)) body = launch_of(*launch, line);
    if (const auto* set = std::get_if<cuda::memset_line>(&line.body)) body = memset_of(*set);
    if (body.empty()) continue;
    text += fmt::format("  // line {}: {}\n  if ({}) {{\n", line.place.line, in_comment(line.text),
                        condition_of(line));
    if (line.loop) {
      const auto index = variable(line.loop->id.text);
      text +=
          fmt::format("      for (whole {} = {}; {} < {}; {} = {} + 1) {{\n{}      }}\n", index,
                      integer_text(line.loop->from), index, integer_text(line.loop->to), index, index, body);
    } else {
      text += "      {\n" + body + "      }\n";
    }
    text += "  }\n";
  }
  return text;
}

std::string writer::source() const {
  std::vector<std::string> kernels;
  std::vector<std::string> variables;
  for (const auto& kernel : parts_.code->kernels) kernels.push_back('"' + kernel.mangled + '"');
  for (const auto& global : parts_.code->globals) {
    if (!global.section.starts_with(".nv.constant")) variables.push_back('"' + global.symbol + '"');
  }
  return fmt::format(
      R"(#include "{name}.hpp"

#include "launch_runtime.hpp"

// Expressions stand here as in the launch lines.
#pragma GCC diagnostic ignored "-Wparentheses"
#pragma GCC diagnostic ignored "-Wlogical-not-parentheses"

namespace {name} {{
namespace {{

using namespace kevo_bundle;

// Machine code for {architecture}, as it was measured.
alignas(64) const unsigned char image[] = {{
#include "{name}_image.inc"
}};

image_in_contexts& kernels() {{
  static image_in_contexts all(image, {{{kernels}}}, {{{variables}}});
  return all;
}}

// Launches if it is told to, and returns the size of the workspace.
std::size_t run(const arguments& a, bool launching, CUstream stream) {{
  const loaded_image& code = kernels().here();
{names}  workspace_parts space(a.workspace);
{occupancies}{workspaces}  if (!launching) return space.bytes();
  if (space.bytes() > 0 && a.workspace == nullptr) throw std::runtime_error("the call needs a workspace");
{maps}  code.restore_variables(stream);
  bool launched = false;
{statements}  if (!launched) throw std::domain_error("no line of the program launches anything for these sizes");
  return space.bytes();
}}

}}  // namespace

std::size_t workspace_bytes(const arguments& a) {{
  return run(a, false, nullptr);
}}

void launch(const arguments& a, CUstream stream) {{
  run(a, true, stream);
}}

}}  // namespace {name}
)",
      fmt::arg("name", parts_.name), fmt::arg("architecture", parts_.code->architecture),
      fmt::arg("kernels", fmt::join(kernels, ", ")), fmt::arg("variables", fmt::join(variables, ", ")),
      fmt::arg("names", names()), fmt::arg("occupancies", occupancies()),
      fmt::arg("workspaces", workspaces()), fmt::arg("maps", tensor_maps()),
      fmt::arg("statements", statements()));
}

std::string numbers_of(std::string_view bytes) {
  std::string text;
  text.reserve(4 * bytes.size());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    text += std::to_string(static_cast<unsigned char>(bytes[i]));
    text += i % 32 == 31 ? ",\n" : ",";
  }
  return text + '\n';
}

}  // namespace

std::string cpp_type(std::string_view dtype) {
  const auto type = find_dtype(dtype);
  return type ? std::string(type->cpp_type) : "std::uint8_t";
}

launcher_text cuda_launcher(const launcher_parts& parts) {
  if (parts.code->images.size() != 1)
    throw error(error_code::input,
                "a program with several images of machine code cannot be part of a bundle yet");
  const writer text(parts);
  return {launcher_header(parts), text.source(), numbers_of(parts.code->images.front())};
}

}  // namespace kevo::bundle
