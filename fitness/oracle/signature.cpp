#include "fitness/oracle/signature.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <kevo/error.hpp>
#include <kevo/task_extents.hpp>

#include "fitness/worker/protocol.hpp"

namespace kevo {
namespace {

struct argument {
  std::string type;  // "const float*", "float", "std::int64_t"
  std::string name;
  std::string value;  // the expression that unpacks it
};

std::vector<argument> arguments_of(const task& t, bool reference) {
  std::vector<argument> result;
  std::size_t pointer = 0;
  std::size_t scalar = 0;
  const auto element = [&](const tensor& x) {
    const auto& type = element_type_of(x);
    if (!reference) return std::string(type.c_type);
    return std::string(type.kind == element_kind::real ? "double" : "std::int64_t");
  };
  const auto add_pointer = [&](const std::string& type, const std::string& name) {
    result.push_back({type, name, fmt::format("static_cast<{}>(pointers[{}])", type, pointer++)});
  };
  for (const auto& input : t.inputs) {
    if (input.scalar) {
      const auto type = element(input);
      result.push_back(
          {type, input.name, fmt::format("*reinterpret_cast<const {}*>(scalars + {})", type, scalar++)});
    } else {
      add_pointer("const " + element(input) + "*", input.name);
    }
  }
  for (const auto& output : t.outputs) add_pointer(element(output) + "*", output.name);
  if (reference) {
    for (const auto& name : scale_tensors(t)) add_pointer("double*", name);
  }
  std::size_t next = 0;
  for (const auto& a : t.axes) {
    if (!a.value) result.push_back({"std::int64_t", a.name, fmt::format("axes[{}]", next++)});
  }
  return result;
}

std::string parameters(const std::vector<argument>& arguments) {
  std::string text;
  for (const auto& a : arguments) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", a.type, a.name);
  return text;
}

// The function is hidden: a program that does not define it cannot be linked.
program_entry entry(const std::vector<argument>& arguments, const std::string& function) {
  std::string values;
  for (const auto& a : arguments) values += (values.empty() ? "" : ", ") + a.value;
  const auto declared = fmt::format("void {}({});", function, parameters(arguments));
  constexpr const char* hidden = "extern \"C\" __attribute__((visibility(\"hidden\"))) ";
  return {function, fmt::format("#include <cstdint>\nextern \"C\" {}  // what the task calls\n", declared),
          fmt::format("#include <cstdint>\n"
                      "{0}{1}\n"
                      "{0}void kevo_call(void* const* pointers, const std::int64_t* axes,\n"
                      "    const std::uint64_t* scalars) {{\n"
                      "  static_cast<void>(pointers), static_cast<void>(axes), static_cast<void>(scalars);\n"
                      "  {2}({3});\n"
                      "}}\n",
                      hidden, declared, function, values)};
}

std::vector<tensor> scaled_outputs(const task& t) {  // one output for each scale tensor, in the same order
  std::vector<std::string> names;
  std::vector<tensor> result;
  for (const auto& output : t.outputs) {
    std::vector<tolerance> rules;
    for (const auto& w : t.workloads) rules.push_back(tolerance_for(t, w, output.name));
    if (t.workloads.empty()) rules.push_back(tolerance_for(t, {}, output.name));
    for (const auto& rule : rules) {
      if (rule.rule != "accumulation" || rule.scale.empty()) continue;
      const bool own = std::any_of(t.outputs.begin(), t.outputs.end(),
                                   [&](const tensor& x) { return x.name == rule.scale; });
      if (own || std::find(names.begin(), names.end(), rule.scale) != names.end()) continue;
      names.push_back(rule.scale);
      result.push_back(output);
      result.back().name = rule.scale;
    }
  }
  return result;
}

}  // namespace

std::vector<std::string> scale_tensors(const task& t) {
  std::vector<std::string> names;
  for (const auto& x : scaled_outputs(t)) names.push_back(x.name);
  return names;
}

program_entry candidate_entry(const task& t) {
  return entry(arguments_of(t, false), "run");
}
program_entry reference_entry(const task& t) {
  return entry(arguments_of(t, true), "reference");
}

std::string prototype(const task& t) {
  auto text = fmt::format("extern \"C\" void run({})", parameters(arguments_of(t, false)));
  for (std::size_t i; (i = text.find("std::")) != std::string::npos;) text.erase(i, 5);
  return text;
}

std::size_t element_count(const tensor& t, const std::map<std::string, std::int64_t>& axes) {
  std::uint64_t count = 1;
  for (const auto extent : extents(t, axes)) {
    if (extent < 0) throw error(error_code::input, "tensor '" + t.name + "' has a negative extent");
    if (__builtin_mul_overflow(count, static_cast<std::uint64_t>(extent), &count) ||
        count > (std::uint64_t{1} << 40U)) {
      throw error(error_code::input, "tensor '" + t.name + "' is too large");
    }
  }
  return static_cast<std::size_t>(count);
}

std::vector<buffer_shape> candidate_buffers(const task& t, const workload& w) {
  const auto axes = axis_values(t, w);
  std::vector<buffer_shape> result;
  for (const auto& input : t.inputs) {
    if (!input.scalar) result.push_back({element_count(input, axes) * element_type_of(input).size, false});
  }
  for (const auto& output : t.outputs) {
    result.push_back({element_count(output, axes) * element_type_of(output).size, true});
  }
  return result;
}

std::vector<buffer_shape> reference_buffers(const task& t, const workload& w) {
  const auto axes = axis_values(t, w);
  std::vector<buffer_shape> result;
  for (const auto& input : t.inputs) {
    if (!input.scalar) result.push_back({element_count(input, axes) * 8, false});
  }
  for (const auto& output : t.outputs) result.push_back({element_count(output, axes) * 8, true});
  for (const auto& scale : scaled_outputs(t)) result.push_back({element_count(scale, axes) * 8, true});
  return result;
}

std::vector<std::int64_t> axis_arguments(const task& t, const workload& w) {
  std::vector<std::int64_t> result;
  for (const auto& a : t.axes) {
    if (a.value) continue;
    const auto it = w.axes.find(a.name);
    if (it == w.axes.end()) {
      throw error(error_code::input, "workload '" + w.uuid + "' has no value for axis '" + a.name + "'",
                  {.file = t.file, .key = "workloads"}, "give it under axes of the workload");
    }
    result.push_back(it->second);
  }
  return result;
}

std::vector<std::int64_t> extent_arguments(const task& t, const workload& w) {
  static_cast<void>(axis_arguments(t, w));  // says which axis has no value
  const auto axes = axis_values(t, w);
  std::vector<std::int64_t> result;
  const auto add = [&](const tensor& x) {
    if (x.scalar) return;
    const auto all = extents(x, axes);
    result.insert(result.end(), all.begin(), all.end());
  };
  for (const auto& input : t.inputs) add(input);
  for (const auto& output : t.outputs) add(output);
  return result;
}

void require_runnable(const task& t, std::string_view language) {
  const bool python = language == "python";
  const auto refuse = [&](const std::string& message, const std::string& key, const std::string& hint = {}) {
    error_place place;
    place.file = t.file;
    place.key = key;
    throw error(error_code::input, message, place, hint);
  };
  if (!t.reference) {
    refuse(
        std::string(python ? "the torch" : "the CPU") + " backend needs a reference, and the task has none",
        "reference",
        "give axes, inputs, outputs, reference and workloads, or use fitness: {backend: command}");
  }
  if (python && t.reference->language != "python") {
    refuse("the torch backend needs a reference in python, not in " + t.reference->language, "reference",
           "write reference: {language: python, file: reference.py}");
  }
  if (!python && t.reference->language != "cpp") {
    refuse("the CPU backend needs a reference in cpp, not in " + t.reference->language, "reference",
           t.reference->language == "python"
               ? "programs of PyTorch are evaluated by fitness: {backend: torch}"
               : "write reference: {language: cpp, file: reference.cpp}");
  }
  if (t.workloads.empty()) refuse("the task has no workloads", "workloads");
  if (t.outputs.empty()) refuse("the task has no outputs", "outputs");
  if (t.baselines.empty()) refuse("the task has no baseline to compare with", "baselines");
  std::size_t pointers = t.outputs.size() + scale_tensors(t).size();
  std::size_t scalars = 0;
  for (const auto& input : t.inputs) {
    element_type_of(input);
    (input.scalar ? scalars : pointers) += 1;
  }
  for (const auto& output : t.outputs) {
    element_type_of(output);
    if (output.scalar)
      refuse("output '" + output.name +
                 "' is a scalar, which is not supported; declare it with a shape, for example one element",
             "outputs");
  }
  auto axes = static_cast<std::size_t>(
      std::count_if(t.axes.begin(), t.axes.end(), [](const axis& a) { return !a.value; }));
  if (python) {
    axes = 0;
    for (const auto* list : {&t.inputs, &t.outputs}) {
      for (const auto& x : *list) axes += x.shape.size();
    }
  }
  if (pointers > most_pointers || scalars > most_scalars || axes > most_axes)
    refuse("the task has too many arguments", "inputs");
  const bool timed =
      std::any_of(t.workloads.begin(), t.workloads.end(), [](const workload& w) { return !w.hidden; });
  if (!timed) refuse("all workloads are hidden, so none can be timed", "workloads");
  for (const auto& w : t.workloads) {
    static_cast<void>(axis_arguments(t, w));
    static_cast<void>(reference_buffers(t, w));
    for (const auto& [name, input] : w.inputs) {
      if (input.kind == "custom" && python) {
        if (t.axes.size() + scalars + 1 > most_scalars)
          refuse("the task has too many axes for a function that makes inputs", "axes");
      } else if (input.kind != "random" && input.kind != "scalar" && input.kind != "file") {
        refuse("input kind '" + input.kind + "' of '" + name + "' is not supported on the CPU yet",
               "workloads", "the supported kinds are random, scalar and file");
      }
    }
  }
}

}  // namespace kevo
