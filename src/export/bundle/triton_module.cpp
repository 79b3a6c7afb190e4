#include "src/export/bundle/triton_module.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include <kevo/dtype.hpp>
#include <kevo/error.hpp>

#include "fitness/cuda/launch/environment.hpp"
#include "src/export/bundle/axis_sources.hpp"
#include "src/export/bundle/bundle_parts.hpp"
#include "src/export/bundle/python_text.hpp"

namespace kevo::bundle {
namespace {

using cuda::launch_line;
using cuda::statement_line;

[[noreturn]] void not_in_triton(const error_place& place, const std::string& what) {
  throw error(error_code::input, what + " cannot be part of a bundle in Triton yet", place,
              "export another candidate with --candidate N, or the sources with --format jsonl");
}

std::string indented(std::size_t depth, const std::string& line) {
  return std::string(4 * depth, ' ') + line + '\n';
}

// A tuple of Python.
std::string tuple_of(const std::vector<std::string>& parts) {
  std::string text;
  for (const auto& part : parts) text += (text.empty() ? "" : ", ") + part;
  return "(" + text + (parts.size() == 1 ? ",)" : ")");
}

class python_writer {
 public:
  explicit python_writer(const triton_module_parts& parts) : parts_(parts) {
    for (const auto* tensors : {&parts.what->inputs, &parts.what->outputs}) {
      for (const auto& t : *tensors) (t.scalar ? scalars_ : buffers_).emplace(t.name, t.dtype);
    }
    for (const auto& axis : parts.what->axes) axes_.insert(axis.name);
    for (const auto& line : parts.lines->statements) {
      if (const auto* space = std::get_if<cuda::workspace_line>(&line.body))
        buffers_.emplace(space->id.text, std::string(space->type.name));
    }
  }

  std::string kernels() const;
  std::string parameters() const;
  std::string shapes() const;
  std::string body() const;

 private:
  std::string sizes() const;
  std::string outputs() const;
  std::string workspaces() const;
  std::string statement(const statement_line& line) const;
  std::string memset_of(const cuda::memset_line& set) const;
  std::string launch_of(const launch_line& launch) const;
  std::string argument_of(const cuda::argument_line& line) const;
  std::string typed(const cuda::typed_argument& argument, const cuda::argument_line& line) const;
  std::string constant_of(const cuda::placed_name& value) const;
  std::string name_of(std::string_view name, const launch_line* launch, const error_place& place) const;
  std::string text_of(const expression& e, const error_place& place,
                      const launch_line* launch = nullptr) const {
    return python_text(e, [&](std::string_view name) { return name_of(name, launch, place); });
  }
  std::vector<std::string> texts_of(const std::vector<std::string>& shape) const {
    std::vector<std::string> extents;
    extents.reserve(shape.size());
    for (const auto& extent : shape) extents.push_back(text_of(expression::parse(extent), {}));
    return extents;
  }
  std::string type_of(const std::string& name, const std::string& dtype) const {
    const auto type = torch_type(dtype);
    if (type.empty())
      not_in_triton({.file = parts_.lines->file}, fmt::format("the tensor '{}' of type {}", name, dtype));
    return "_kevo_torch." + type;
  }

  const triton_module_parts& parts_;
  std::map<std::string, std::string> buffers_;  // dtype by name
  std::map<std::string, std::string> scalars_;  // the same
  std::set<std::string> axes_;
};

// Axes and indices of loops have the prefix v_, so that they hide neither tensors nor what the file defines.
std::string python_writer::name_of(std::string_view name, const launch_line* launch,
                                   const error_place& place) const {
  const std::string word(name);
  if (axes_.contains(word)) return "v_" + word;
  if (const auto tunable = parts_.lines->tunables.find(word); tunable != parts_.lines->tunables.end())
    return tunable->second;
  if (scalars_.contains(word)) return python_identifier(word);
  if (word == "device.sms") return "_kevo_processors(_device)";
  if (word.starts_with("occupancy(")) not_in_triton(place, "occupancy(kernel)");
  if (const auto dot = word.find('.'); dot != std::string::npos) {
    if (launch == nullptr || launch->kernel.text != word.substr(0, dot))
      not_in_triton(place, fmt::format("'{}' outside of the grid of its kernel", word));
    return fmt::format("_named[{}]", python_literal(word.substr(dot + 1)));
  }
  return "v_" + word;  // the index of the line's loop
}

// The kernels that are launched, by name: the function may have the name of one.
std::string python_writer::kernels() const {
  std::set<std::string> names;
  for (const auto& line : parts_.lines->statements) {
    if (const auto* launch = std::get_if<launch_line>(&line.body)) names.insert(launch->kernel.text);
  }
  std::string text;
  for (const auto& name : names)
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", python_literal(name), name);
  return "{" + text + "}";
}

std::string python_writer::parameters() const {
  std::string text;
  for (const auto& input : parts_.what->inputs)
    text += (text.empty() ? "" : ", ") + python_identifier(input.name);
  std::string asked;
  for (const auto& axis : axis_sources(*parts_.what)) {
    if (axis.is_asked()) asked += ", " + python_identifier(axis.name);
  }
  return asked.empty() ? text : text + ", *" + asked;
}

std::string python_writer::shapes() const {
  const auto described = [](const tensor& t) {
    if (t.scalar) return fmt::format("{}: a number of type {}", t.name, t.dtype);
    std::string extents;
    for (const auto& extent : t.shape) extents += (extents.empty() ? "" : ", ") + extent;
    return fmt::format("{} [{}] {}", t.name, extents, t.dtype);
  };
  std::string text = "Inputs:";
  for (const auto& input : parts_.what->inputs)
    text += (&input == &parts_.what->inputs.front() ? " " : "; ") + described(input);
  text += ". Returns:";
  for (const auto& output : parts_.what->outputs)
    text += (&output == &parts_.what->outputs.front() ? " " : "; ") + described(output);
  return text + ". All tensors are dense and on one device.";
}

std::string python_writer::sizes() const {
  std::string text;
  for (const auto& input : parts_.what->inputs) {
    if (input.scalar) continue;
    const auto name = python_identifier(input.name);
    if (text.empty()) text += indented(1, fmt::format("_device = {}.device", name));
    text += indented(1, fmt::format("_kevo_check({}, {}, {}, {}, _device)", python_literal(input.name), name,
                                    type_of(input.name, input.dtype), input.shape.size()));
  }
  if (text.empty()) not_in_triton({.file = parts_.lines->file}, "a task without tensors as inputs");
  for (const auto& axis : axis_sources(*parts_.what)) {
    const auto value =
        axis.constant ? std::to_string(*axis.constant)
        : axis.extent ? fmt::format("{}.shape[{}]", python_identifier(axis.extent->input), axis.extent->index)
        : axis.rule   ? text_of(*axis.rule, {})
                      : python_identifier(axis.name);
    text += indented(1, fmt::format("v_{} = {}", axis.name, value));
  }
  for (const auto& input : parts_.what->inputs) {
    if (input.scalar) continue;
    text += indented(1, fmt::format("_kevo_extents({}, {}, {})", python_literal(input.name),
                                    python_identifier(input.name), tuple_of(texts_of(input.shape))));
  }
  for (const auto& condition : parts_.what->constraints) {
    text += indented(1, fmt::format("if not {}:", text_of(condition, {})));
    text += indented(
        2, fmt::format("raise ValueError({})", python_literal("the sizes must satisfy " + condition.text())));
  }
  return text;
}

std::string python_writer::outputs() const {
  std::string text;
  for (const auto& output : parts_.what->outputs) {
    text += indented(
        1, fmt::format("{} = _kevo_torch.empty({}, dtype={}, device=_device)", python_identifier(output.name),
                       tuple_of(texts_of(output.shape)), type_of(output.name, output.dtype)));
  }
  return text;
}

std::string python_writer::workspaces() const {
  std::string text;
  for (const auto& line : parts_.lines->statements) {
    const auto* space = std::get_if<cuda::workspace_line>(&line.body);
    if (space == nullptr) continue;
    if (space->align) not_in_triton(line.place, "a workspace with 'align'");
    std::string elements = "1";
    for (const auto& extent : space->shape) elements += " * " + text_of(extent, line.place);
    const auto made = fmt::format("_kevo_torch.empty({}, dtype={}, device=_device)", elements,
                                  type_of(space->id.text, std::string(space->type.name)));
    text += indented(
        1, fmt::format(
               "{} = {}{}", python_identifier(space->id.text), made,
               line.condition ? fmt::format(" if {} else None", text_of(*line.condition, line.place)) : ""));
  }
  return text;
}

std::string python_writer::memset_of(const cuda::memset_line& set) const {
  const auto bytes = fmt::format("_kevo_bytes({})", python_identifier(set.buffer.text));
  return fmt::format("{}{}.fill_({})", bytes,
                     set.bytes ? fmt::format("[:{}]", text_of(*set.bytes, set.buffer.place)) : "",
                     text_of(set.byte, set.buffer.place));
}

std::string python_writer::typed(const cuda::typed_argument& argument,
                                 const cuda::argument_line& line) const {
  const auto type = argument.type.name;
  if (const auto* whole = std::get_if<expression>(&argument.value)) {
    if (type == "int32") return text_of(*whole, line.place);
    if (type == "bool") return fmt::format("_kevo_bool({})", text_of(*whole, line.place));
  } else if (type == "float32") {
    return python_text(std::get<cuda::real_expression>(argument.value),
                       [&](std::string_view name) { return name_of(name, nullptr, line.place); });
  }
  not_in_triton(line.place, fmt::format("a number of type {} as an argument", type));
}

std::string python_writer::argument_of(const cuda::argument_line& line) const {
  if (const auto* given = std::get_if<cuda::typed_argument>(&line.value)) return typed(*given, line);
  const auto* plain = std::get_if<cuda::plain_argument>(&line.value);
  if (plain == nullptr) not_in_triton(line.place, "the argument null");
  if (plain->name) {
    const auto name = python_identifier(plain->name->text);
    if (buffers_.contains(plain->name->text)) {
      return plain->offset ? fmt::format("_kevo_from({}, {})", name, text_of(*plain->offset, line.place))
                           : name;
    }
    if (const auto scalar = scalars_.find(plain->name->text); scalar != scalars_.end() && !plain->offset) {
      if (scalar->second != "int32" && scalar->second != "float32")
        not_in_triton(line.place, fmt::format("a number of type {} as an argument", scalar->second));
      return fmt::format("{}({})", scalar->second == "int32" ? "_kevo_int" : "_kevo_float", name);
    }
  }
  return text_of(*plain->value, line.place);
}

// An integer where it is an expression whose names are known, as when kevo measures; else Python's words.
std::string python_writer::constant_of(const cuda::placed_name& value) const {
  std::optional<expression> e;
  try {
    e = expression::parse(value.text, value.place);
  } catch (const error&) {  // a word of Python's, then
  }
  const auto known = [&](const std::string& name) {
    if (axes_.contains(name) || name == "device.sms") return true;
    const auto tunable = parts_.lines->tunables.find(name);
    return tunable != parts_.lines->tunables.end() &&
           tunable->second.find_first_not_of("0123456789-") == std::string::npos;
  };
  if (e && std::all_of(e->names().begin(), e->names().end(), known)) return text_of(*e, value.place);
  return cuda::detail::with_tunables(value.text, parts_.lines->tunables);
}

std::string python_writer::launch_of(const launch_line& launch) const {
  const auto& triton = *launch.triton;
  std::string named;
  const auto add = [&](const std::string& key, const std::string& value) {
    named += fmt::format("{}{}: {}", named.empty() ? "" : ", ", python_literal(key), value);
  };
  if (triton.config) {
    named = fmt::format("**_kevo_config({}, {})", python_literal(launch.kernel.text),
                        text_of(*triton.config, launch.kernel.place));
  }
  for (const auto& constant : triton.constants) add(constant.name.text, constant_of(constant.value));
  for (const auto& [key, value] :
       {std::pair("num_warps", &triton.warps), std::pair("num_stages", &triton.stages),
        std::pair("num_ctas", &triton.ctas), std::pair("maxnreg", &triton.registers)}) {
    if (*value) add(key, text_of(**value, launch.kernel.place));
  }
  std::vector<std::string> grid;
  for (const auto& extent : launch.grid) grid.push_back(text_of(extent, launch.kernel.place, &launch));
  std::vector<std::string> arguments;
  for (const auto& argument : launch.arguments) arguments.push_back(argument_of(argument));
  return fmt::format("_named = {{{}}}\n_kevo_launch({}, {}, {}, _named)\n_launched = True", named,
                     python_literal(launch.kernel.text), tuple_of(grid), tuple_of(arguments));
}

std::string python_writer::statement(const statement_line& line) const {
  std::string work;
  if (const auto* launch = std::get_if<launch_line>(&line.body)) {
    work = launch_of(*launch);
  } else if (const auto* set = std::get_if<cuda::memset_line>(&line.body)) {
    work = memset_of(*set);
  } else {
    return {};  // workspaces are made before
  }
  std::size_t depth = 2;
  std::string text;
  if (line.condition) text += indented(depth++, fmt::format("if {}:", text_of(*line.condition, line.place)));
  if (line.loop) {
    text += indented(depth++,
                     fmt::format("for v_{} in _kevo_range({}, {}):", line.loop->id.text,
                                 text_of(line.loop->from, line.place), text_of(line.loop->to, line.place)));
  }
  for (std::size_t at = 0; at < work.size();) {
    const auto end = std::min(work.find('\n', at), work.size());
    text += indented(depth, work.substr(at, end - at));
    at = end + 1;
  }
  return text;
}

std::string python_writer::body() const {
  std::string text = sizes() + outputs() + workspaces();
  text += indented(1, "_launched = False");
  text += indented(1, "with _kevo_torch.cuda.device(_device if _device.type == \"cuda\" else -1):");
  for (const auto& line : parts_.lines->statements) text += statement(line);
  text += indented(1, "if not _launched:");
  text += indented(2, "raise ValueError(\"no launch line applies to these sizes\")");
  std::string results;
  for (const auto& output : parts_.what->outputs)
    results += (results.empty() ? "" : ", ") + python_identifier(output.name);
  text += "    return " + results;
  return text;
}

// A text that ends no docstring.
std::string for_docstring(std::string text) {
  for (auto& c : text) {
    if (c == '"') c = '\'';
    if (c == '\\') c = '/';
  }
  return text;
}

// Whether a name is in the file besides launch lines and the definition of a kernel, which the module keeps.
bool is_used_besides_launches(std::string_view text, std::string_view name) {
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    const auto line = text.substr(at, end - at);
    at = end + 1;
    if (line.find("# kevo:") != std::string_view::npos) continue;
    if (line.starts_with("def ") &&
        cuda::detail::find_word(line.substr(0, line.find('(')), name) != std::string_view::npos)
      continue;
    if (cuda::detail::find_word(line, name) != std::string_view::npos) return true;
  }
  return false;
}

// Whether a line of the file begins with the definition of a name.
bool defines(std::string_view text, const std::string& name) {
  for (const auto& begin : {"def " + name + "(", "class " + name, name + " =", name + "="}) {
    if (text.starts_with(begin) || text.find("\n" + begin) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

std::string triton_module(const triton_module_parts& parts) {
  const auto& file = parts.source->files.front();
  if (is_used_besides_launches(file.text, parts.name)) {
    throw error(
        error_code::input,
        fmt::format("the program uses the name '{}' itself, which the function would replace", parts.name),
        {.file = file.path, .key = {}}, "choose another name with --name");
  }
  const python_writer written(parts);
  const auto alias =
      fmt::format("\n\nrun = {}  # the name by which kevo calls a function of PyTorch\n", parts.name);
  std::string text = file.text;
  while (text.ends_with('\n')) text.pop_back();
  return text + '\n' +
         filled("triton_launch.py.in",
                {{"name", parts.name},
                 {"parameters", written.parameters()},
                 {"about", for_docstring(parts.what->name + ": " + parts.what->description)},
                 {"shapes", for_docstring(written.shapes())},
                 {"kernels", written.kernels()},
                 {"body", written.body()},
                 {"run", defines(file.text, "run") ? "" : alias}});
}

}  // namespace kevo::bundle
