#include "fitness/cpu/reference_program.hpp"

#include <algorithm>
#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "fitness/oracle/element_type.hpp"
#include "fitness/oracle/extent_text.hpp"
#include "fitness/oracle/signature.hpp"

namespace kevo {
namespace {

std::string name_or_value(const task& t, std::string_view name) {
  const auto a = std::find_if(t.axes.begin(), t.axes.end(), [&](const axis& x) { return x.name == name; });
  return a != t.axes.end() && a->value ? fmt::format("std::int64_t{{{}}}", *a->value) : std::string(name);
}

std::string count_of(const task& t, const tensor& x) {
  return element_count_text(x, [&](std::string_view name) { return name_or_value(t, name); });
}

// The pieces of a program that calls the reference's own text.
struct call_of_reference {
  std::string before;  // memory of its own
  std::string arguments;
  std::string after;

  void add(const std::string& argument) { arguments += (arguments.empty() ? "" : ", ") + argument; }
};

// Scale tensors go to scratch memory: every one has the shape of an output, so that the sum of all is enough.
void add_scales_and_axes(const task& t, const std::string& type, call_of_reference& call) {
  for (const auto& scale : scale_tensors(t)) {
    std::string size;
    for (const auto& output : t.outputs) size += (size.empty() ? "" : " + ") + count_of(t, output);
    call.before +=
        fmt::format("  std::vector<{}> kevo_scratch_{}(static_cast<std::size_t>({}));\n", type, scale, size);
    call.add("kevo_scratch_" + scale + ".data()");
  }
  for (const auto& a : t.axes) {
    if (!a.value) call.add(a.name);
  }
}

program program_around_reference(const task& t, const std::string& name, const call_of_reference& call,
                                 bool in_float) {
  std::string includes = "#include <cstdint>\n#include <vector>\n";
  std::string body;
  std::istringstream lines{std::string(t.reference->source.text())};
  for (std::string line; std::getline(lines, line);) {
    (line.rfind("#include", 0) == 0 ? includes : body) += line + '\n';
  }
  if (in_float) body = "#define double float\n" + body + "#undef double\n";
  return single_file_program("cpp", name,
                             includes + body + extent_functions(t) + prototype(t) + " {\n" + call.before +
                                 "  reference(" + call.arguments + ");\n" + call.after + "}\n");
}

bool is_word_type(const tensor& x) {  // 16-bit floating-point numbers are words in C++
  return x.dtype == "float16" || x.dtype == "bfloat16";
}

}  // namespace

bool computes_in_float32(const task& t) {
  bool any = false;
  for (const auto* list : {&t.inputs, &t.outputs}) {
    for (const auto& x : *list) {
      const bool real = element_type_of(x).kind == element_kind::real;
      if (real && x.dtype != "float32") return false;
      any = any || real;
    }
  }
  return any;
}

std::string why_not_float32(const task& t) {
  for (const auto* list : {&t.inputs, &t.outputs}) {
    for (const auto& x : *list) {
      if (element_type_of(x).kind == element_kind::real && x.dtype != "float32")
        return "'" + x.name + "' is " + x.dtype;
    }
  }
  return "no tensor has a real type";
}

bool has_plain_types(const task& t) {
  return std::none_of(t.inputs.begin(), t.inputs.end(), is_word_type) &&
         std::none_of(t.outputs.begin(), t.outputs.end(), is_word_type);
}

program program_of_reference(const task& t, bool in_float) {
  call_of_reference call;
  const std::string real = in_float ? "float" : "double";
  const auto wide = [&](const tensor& x) {
    return element_type_of(x).kind == element_kind::real ? real : std::string("std::int64_t");
  };
  for (const auto& input : t.inputs) {
    if (input.scalar) {
      call.add(input.name);
      continue;
    }
    call.before += fmt::format("  std::vector<{0}> kevo_wide_{1}({1}, {1} + {2});\n", wide(input), input.name,
                               count_of(t, input));
    call.add("kevo_wide_" + input.name + ".data()");
  }
  for (const auto& output : t.outputs) {
    call.before += fmt::format("  std::vector<{}> kevo_wide_{}(static_cast<std::size_t>({}));\n",
                               wide(output), output.name, count_of(t, output));
    call.add("kevo_wide_" + output.name + ".data()");
    call.after += fmt::format(
        "  for (std::size_t i = 0; i < kevo_wide_{0}.size(); ++i) {0}[i] = "
        "static_cast<{1}>(kevo_wide_{0}[i]);\n",
        output.name, element_type_of(output).c_type);
  }
  add_scales_and_axes(t, real, call);
  return program_around_reference(t, in_float ? "reference_in_float32.cpp" : "rounded_reference.cpp", call,
                                  in_float);
}

}  // namespace kevo
