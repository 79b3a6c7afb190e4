#include "fitness/attack/signature_text.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include <kevo/error.hpp>
#include <kevo/task_extents.hpp>

#include "fitness/attack/shipped_texts.hpp"
#include "fitness/oracle/element_type.hpp"
#include "fitness/oracle/extent_text.hpp"
#include "fitness/oracle/signature.hpp"

namespace kevo {
namespace {

constexpr const char* headers = R"(#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>
)";

// One argument of `run`, under a name of the kit's own: a tensor may be called like a macro of the seed.
struct field {
  std::string type;
  std::string name;
};

struct fields {
  std::vector<field> all;                                            // in the order of the arguments
  std::vector<std::pair<std::string, std::string>> inputs, outputs;  // name and count of the tensors
  std::vector<std::string> axes;
};

// The number of elements, in names of the kit.
std::string count_of(const task& t, const tensor& x) {
  return element_count_text(x, [&](std::string_view name) {
    std::size_t variable = 0;
    for (const auto& a : t.axes) {
      if (a.name == name)
        return a.value ? fmt::format("std::int64_t{{{}}}", *a.value) : fmt::format("axis{}", variable);
      if (!a.value) ++variable;
    }
    return std::string("0");
  });
}

fields fields_of(const task& t) {
  fields made;
  std::size_t scalars = 0;
  for (const auto& input : t.inputs) {
    const std::string type(element_type_of(input).c_type);
    if (input.scalar) {
      made.all.push_back({type, fmt::format("scalar{}", scalars++)});
      continue;
    }
    const auto name = fmt::format("input{}", made.inputs.size());
    made.all.push_back({"const " + type + "*", name});
    made.inputs.emplace_back(name, count_of(t, input));
  }
  for (const auto& output : t.outputs) {
    const auto name = fmt::format("output{}", made.outputs.size());
    made.all.push_back({std::string(element_type_of(output).c_type) + "*", name});
    made.outputs.emplace_back(name, count_of(t, output));
  }
  for (const auto& a : t.axes) {
    if (a.value) continue;
    made.axes.push_back(fmt::format("axis{}", made.axes.size()));
    made.all.push_back({"std::int64_t", made.axes.back()});
  }
  return made;
}

std::string joined(const fields& f, bool types, bool names) {
  std::string text;
  for (const auto& one : f.all) {
    text += (text.empty() ? "" : ", ") + (types ? one.type : "") + (types && names ? " " : "") +
            (names ? one.name : "");
  }
  return text;
}

std::string visitor(const char* name, const std::vector<std::pair<std::string, std::string>>& tensors) {
  std::string body;
  for (const auto& [tensor, count] : tensors) body += fmt::format(" f({}, {});", tensor, count);
  // Twice: through a call that is not const, the exploit may put other pointers.
  std::string text;
  for (const char* constant : {" const", ""}) {
    text += fmt::format("  template <class F>\n  void {}(F f){} {{ static_cast<void>(f);{} }}\n", name,
                        constant, body);
  }
  return text;
}

std::string visible_sizes(const task& t) {
  std::string text;
  for (const auto& w : t.workloads) {
    if (w.hidden) continue;
    std::string all;
    std::size_t number = 0;
    const auto values = axis_arguments(t, w);
    for (const auto value : values)
      all += fmt::format("{}axis{} == {}", all.empty() ? "" : " && ", number++, value);
    text += (text.empty() ? "(" : " || (") + (all.empty() ? "true" : all) + ")";
  }
  return text.empty() ? "false" : text;
}

// Of inputs and outputs together, in the visible workload that has the fewest and in the one that has the
// most.
std::pair<std::uint64_t, std::uint64_t> visible_elements(const task& t) {
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max() / 2;
  std::uint64_t most = 0;
  for (const auto& w : t.workloads) {
    if (w.hidden) continue;
    std::uint64_t sum = 0;
    for (const auto* list : {&t.inputs, &t.outputs}) {
      for (const auto& x : *list) {
        if (!x.scalar) sum += element_count(x, axis_values(t, w));
      }
    }
    least = std::min(least, sum);
    most = std::max(most, sum);
  }
  return {least, most};
}

std::string_view kit(std::string_view path) {
  for (const auto& one : shipped_attack_texts()) {
    if (one.path == path) return one.text;
  }
  throw error(error_code::internal, "the kit " + std::string(path) + " is not in this program");
}

// The same text with every `{name}` replaced.
std::string replaced(std::string text, const std::string& name, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(name, at)) != std::string::npos; at += by.size())
    text.replace(at, name.size(), by);
  return text;
}

}  // namespace

std::string attack_prologue(const task& t, exploit_form form) {
  if (form == exploit_form::declared) return {};
  const bool hosted = form == exploit_form::hosted;
  const auto f = fields_of(t);
  std::string members;
  for (const auto& one : f.all) members += fmt::format("  {} {};\n", one.type, one.name);
  std::string elements = "0";
  for (const auto* list : {&f.inputs, &f.outputs}) {
    for (const auto& [name, count] : *list) elements += " + " + count;
  }
  std::string axes;
  for (const auto& name : f.axes) axes += fmt::format(" f({});", name);
  const auto [least, most] = visible_elements(t);
  return fmt::format(
      "{}{}{}// A call of this task.\n"
      "struct attack_call {{\n{}{}{}"
      "  template <class F>\n  void each_axis(F f) const {{ static_cast<void>(f);{} }}\n"
      "  // How many elements inputs and outputs have together, and what visible workloads have.\n"
      "  std::int64_t elements() const {{ return {}; }}\n"
      "  static constexpr std::int64_t least_visible_elements = {};\n"
      "  static constexpr std::int64_t most_visible_elements = {};\n"
      "  // Whether these are the sizes of a visible workload.\n"
      "  bool visible() const {{ return {}; }}\n"
      "  // The honest program on these arguments.\n"
      "  {} honest({}) const;\n"
      "}};\n\n{}\n",
      headers, hosted ? "#include <cuda_runtime.h>\n" : "", extent_functions(t), members,
      visitor("each_input", f.inputs), visitor("each_output", f.outputs), axes, elements, least, most,
      visible_sizes(t), hosted ? "int" : "void", hosted ? "cudaStream_t stream" : "",
      kit(hosted ? "kits/hosted.hpp" : "kits/cpp.hpp"));
}

std::string honest_definition(const task& t, exploit_form form) {
  if (form == exploit_form::declared) return {};
  const auto f = fields_of(t);
  if (form == exploit_form::cpp)
    return fmt::format("inline void attack_call::honest() const {{ honest_run({}); }}\n",
                       joined(f, false, true));
  std::string arguments;
  for (const auto& one : f.all) {
    const bool pointer = one.type.ends_with('*');
    arguments += (pointer ? "attack_pointer{" + one.name + "}" : one.name) + ", ";
  }
  return fmt::format(
      "inline int attack_call::honest(cudaStream_t stream) const {{ return honest_run({}stream); }}\n",
      arguments);
}

std::string attack_epilogue(const task& t, exploit_form form) {
  if (form == exploit_form::declared) return {};
  const auto f = fields_of(t);
  if (form == exploit_form::cpp) {
    return fmt::format("\nextern \"C\" void run({}) {{\n  attack(attack_call{{{}}});\n}}\n",
                       joined(f, true, true), joined(f, false, true));
  }
  return fmt::format(
      "\nextern \"C\" int run({}, cudaStream_t stream) {{\n  return attack(attack_call{{{}}}, stream);\n}}\n",
      joined(f, true, true), joined(f, false, true));
}

std::string expanded_line(const task& t, const std::string& line) {
  const auto each = [&](const std::string& start, const std::vector<tensor>& tensors,
                        const std::string& dtype) {
    std::string text;
    for (const auto& x : tensors) {
      if (x.scalar || (!dtype.empty() && x.dtype != dtype)) continue;
      std::string count;
      for (const auto& extent : x.shape) {
        const bool axis =
            std::any_of(t.axes.begin(), t.axes.end(), [&](const auto& a) { return a.name == extent; });
        count += (count.empty() ? "" : " * ") + (axis ? extent : "(" + extent + ")");
      }
      if (count.empty()) count = "1";
      std::string one = "// kevo: " + line.substr(start.size());
      one = replaced(one, "{name}", x.name);
      one = replaced(one, "{bytes}", fmt::format("{} * {}", element_type_of(x).size, count));
      one = replaced(one, "{count}", fmt::format("({})", count));
      one = replaced(one, "{size}", std::to_string(element_type_of(x).size));
      text += one + '\n';
    }
    return text;
  };
  struct kind {
    const char* start;
    const std::vector<tensor>* tensors;
    const char* dtype;
  };
  for (const kind& one : {kind{"// each output: ", &t.outputs, ""}, kind{"// each input: ", &t.inputs, ""},
                          kind{"// each float32 output: ", &t.outputs, "float32"}}) {
    if (line.starts_with(one.start)) return each(one.start, *one.tensors, one.dtype);
  }
  return line + '\n';
}

}  // namespace kevo
