// The test of a bundle: draws inputs of the visible workloads, and compares with the task's reference.

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include <kevo/expression.hpp>
#include <kevo/task_extents.hpp>

#include "fitness/cuda/measure/device_task.hpp"
#include "fitness/oracle/element_type.hpp"
#include "fitness/oracle/generate.hpp"
#include "fitness/oracle/signature.hpp"
#include "src/export/bundle/bundle_parts.hpp"
#include "src/export/bundle/cuda_launcher.hpp"
#include "src/export/bundle/literals.hpp"

namespace kevo::bundle {
namespace {

using axes_map = std::map<std::string, std::int64_t>;

std::string tag(const std::string& dtype) {
  return "dtype::" + (dtype == "bool" ? std::string("boolean") : dtype);
}

bool is_real(const tensor& t) {
  return element_type_of(t).kind == element_kind::real;
}

std::string make_inputs(const task& t, const workload& w, const axes_map& axes) {
  std::string text;
  for (const auto& input : t.inputs) {
    const auto recipe = resolved(generator_of(input, w), axes);
    std::string more;
    if (recipe.kind == "offsets") more = fmt::format(", \"{}\", {:.17g}", recipe.law, recipe.parameter);
    if (recipe.kind == "zipf") more = fmt::format(", {:.17g}", recipe.parameter);
    if (recipe.kind == "columns") more = ", " + recipe.rows;
    text += fmt::format("  tensor {}({}, {});\n  draw_{}({}, random, {:.17g}, {:.17g}{});\n", input.name,
                        tag(input.dtype), element_count(input, axes), recipe.kind, input.name, recipe.a,
                        recipe.b, more);
  }
  return text;
}

// The largest error of element i, in C++.
std::string bound_text(const task& t, const workload& w, const tensor& output, const axes_map& axes) {
  const auto rule = tolerance_for(t, w, output.name);
  const auto& type = element_type_of(output);
  if (rule.rule == "exact") return "0.0";
  if (rule.rule == "finite") return "INFINITY";
  if (rule.rule == "bounds")
    return fmt::format("{:.17g} + {:.17g} * std::fabs({}_expected.at(i))", rule.max_atol, rule.max_rtol,
                       output.name);
  const auto length = rule.length
                          ? rule.length->evaluate([&](std::string_view name) -> std::optional<std::int64_t> {
                              const auto found = axes.find(std::string(name));
                              return found == axes.end() ? std::nullopt : std::optional(found->second);
                            })
                          : 1;
  const auto terms = std::max(1.0, static_cast<double>(length));
  return fmt::format("{:.17g} * std::fabs({}_expected.at(i)) + {:.17g}",
                     rule.factor * type.unit_roundoff * std::sqrt(terms), rule.scale, terms * type.smallest);
}

std::string comparisons(const task& t, const workload& w, const axes_map& axes) {
  std::string text = "  bool right = true;\n";
  for (const auto& output : t.outputs) {
    const auto rule = tolerance_for(t, w, output.name);
    const auto allowed = std::floor(
        (1 - rule.required_matched_ratio) * static_cast<double>(element_count(output, axes)) + 1e-9);
    text += fmt::format(
        "  right = agrees(\"{}\", \"{}\", {}, {}_expected, {}, [&](std::size_t i) {{ (void)i; return {}; }}) "
        "&& "
        "right;\n",
        w.uuid, output.name, output.name, output.name, allowed, bound_text(t, w, output, axes));
  }
  return text;
}

const tensor& scaled_by(const task& t, const workload& w, const std::string& scale) {
  return *std::find_if(t.outputs.begin(), t.outputs.end(),
                       [&](const tensor& output) { return tolerance_for(t, w, output.name).scale == scale; });
}

// Outputs, what is expected of them, and scales.
std::string make_outputs(const task& t, const workload& w, const axes_map& axes) {
  std::string text;
  for (const auto& output : t.outputs) {
    const auto count = element_count(output, axes);
    text += fmt::format("  tensor {0}({1}, {2});\n  tensor {0}_expected({3}, {2});\n", output.name,
                        tag(output.dtype), count, is_real(output) ? "dtype::float64" : "dtype::int64");
  }
  for (const auto& name : scale_tensors(t)) {
    text += fmt::format("  tensor {}_expected(dtype::float64, {});\n", name,
                        element_count(scaled_by(t, w, name), axes));
  }
  return text;
}

// What the run measured, in milliseconds: "time, low, high", with 0 for what is not known.
std::string recorded_ms(const evaluation& e, const std::string& uuid) {
  for (const auto& w : e.workloads) {
    if (w.uuid != uuid) continue;
    const double high = std::isfinite(w.time_interval.high) ? w.time_interval.high : 0;
    return fmt::format("{:.17g}, {:.17g}, {:.17g}", 1e-6 * w.time_ns, 1e-6 * w.time_interval.low,
                       1e-6 * high);
  }
  return "0, 0, 0";
}

// What differs between the tests of C++ and CUDA.
struct test_parts {
  std::string includes;
  std::string declarations;
  std::string before;  ///< the workloads
  std::string child;   ///< the option of a process that measures
  std::string speed;   ///< what is returned for --speed, an expression; empty: there is no such option
};

std::string test_file(const bundled& b, const test_parts& parts,
                      const std::function<std::string(const workload&, const axes_map&)>& body) {
  std::string functions;
  std::string calls;
  std::size_t number = 0;
  for (const auto& w : b.what->workloads) {
    if (w.hidden) continue;
    functions += fmt::format(
        "// {}\nbool workload_{}([[maybe_unused]] bool timed) {{\n  random_numbers random(1);\n{}  return "
        "right;\n}}\n\n",
        w.uuid, number, body(w, axis_values(*b.what, w)));
    calls +=
        fmt::format("    if (only < 0 || only == {0}) right = workload_{0}(timed) && right;\n", number++);
  }
  const auto speed =
      parts.speed.empty()
          ? std::string()
          : fmt::format("    if (count > 1 && std::strcmp(words[1], \"--speed\") == 0) return {};\n",
                        parts.speed);
  return fmt::format(
      R"(// Compares the program with the reference of the task on random input data; with --speed, times it in several
// processes and compares with what the run measured.
#include <cstdlib>
#include <cstring>
#include <exception>

{}
{}namespace {{

using namespace kevo_bundle;

{}}}  // namespace

int main(int count, char** words) {{
  const bool timed = count > 1 && std::strcmp(words[1], "{}") == 0;
  const int only = count > 2 ? std::atoi(words[2]) : -1;  // of the workloads
  try {{
{}{}    bool right = true;
{}    std::puts(right ? "passed" : "FAILED");
    return right ? 0 : 1;
  }} catch (const std::exception& e) {{
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }}
}}
)",
      parts.includes, parts.declarations, functions, parts.child, speed, parts.before, calls);
}

}  // namespace

std::string reason_against_test(const task& t) {
  constexpr std::array<std::string_view, 8> drawn = {"normal",      "uniform", "integers", "sorted",
                                                     "permutation", "zipf",    "offsets",  "columns"};
  if (!t.reference) return "the task has no reference";
  for (const auto& w : t.workloads) {
    if (w.hidden) continue;
    std::set<std::string> known;
    for (const auto& input : t.inputs) {
      const auto given = w.inputs.find(input.name);
      const auto& recipe = generator_of(input, w);
      if (input.scalar) return "a test with scalar inputs is not written yet";
      if (given != w.inputs.end() && given->second.contents) return "the input " + input.name + " is a file";
      if (std::find(drawn.begin(), drawn.end(), recipe.kind) == drawn.end())
        return "its input " + input.name + " is drawn by the generator " + recipe.kind;
      known.insert(input.name);
      if (recipe.kind == "columns" && !known.contains(recipe.rows))
        return "its input " + input.name + " stands before the offsets of its rows";
    }
    for (const auto& output : t.outputs) {
      if (tolerance_for(t, w, output.name).has_contract())
        return "the tolerance of " + output.name + " is a contract of the whole output";
    }
  }
  return {};
}

void add_cpp_test(const bundled& b, folder_text& files) {
  const auto& t = *b.what;
  for (const auto& file : t.reference->source.files) files["test/reference/" + file.path] = file.text;
  files["test/check_runtime.hpp"] = shipped_file("check_runtime.hpp");
  if (b.compared_with != nullptr) {
    for (const auto& file : b.compared_with->source.files) files["test/baseline/" + file.path] = file.text;
    files["test/paired_times.hpp"] = shipped_file("paired_times.hpp");
  }
  std::string types;      // of the parameters of the reference
  std::string own_types;  // of the program
  const auto add = [](std::string& list, const std::string& what) {
    list += (list.empty() ? "" : ", ") + what;
  };
  for (const auto& input : t.inputs) {
    add(types, is_real(input) ? "const double*" : "const std::int64_t*");
    add(own_types, fmt::format("const {}*", cpp_type(input.dtype)));
  }
  for (const auto& output : t.outputs) {
    add(types, is_real(output) ? "double*" : "std::int64_t*");
    add(own_types, cpp_type(output.dtype) + "*");
  }
  for (std::size_t i = 0; i < scale_tensors(t).size(); ++i) add(types, "double*");
  for (const auto& a : t.axes) {
    if (a.value) continue;
    add(types, "std::int64_t");
    add(own_types, "std::int64_t");
  }
  const auto body = [&](const workload& w, const axes_map& axes) {
    std::string text;
    std::string ours;
    std::string theirs;
    std::string placed;  // as `ours`, at the places of a timed call
    std::string inputs;
    std::string outputs;
    std::size_t number = 0;
    for (const auto& input : t.inputs) {
      const char* wide = is_real(input) ? "double" : "std::int64_t";
      text += fmt::format(
          "  tensor {0}_wide({1}, {0}.count);\n  for (std::size_t i = 0; i < {0}.count; ++i) {0}_wide.set(i, "
          "{0}.at(i));\n",
          input.name, is_real(input) ? "dtype::float64" : "dtype::int64");
      add(ours, fmt::format("{}.data<{}>()", input.name, cpp_type(input.dtype)));
      add(theirs, fmt::format("{}_wide.data<{}>()", input.name, wide));
      add(placed, fmt::format("at.at<{}>({})", cpp_type(input.dtype), number++));
      add(inputs, '&' + input.name);
    }
    for (const auto& output : t.outputs) {
      add(ours, fmt::format("{}.data<{}>()", output.name, cpp_type(output.dtype)));
      add(theirs,
          fmt::format("{}_expected.data<{}>()", output.name, is_real(output) ? "double" : "std::int64_t"));
      add(placed, fmt::format("at.at<{}>({})", cpp_type(output.dtype), number++));
      add(outputs, '&' + output.name);
    }
    for (const auto& name : scale_tensors(t)) add(theirs, name + "_expected.data<double>()");
    for (const auto& a : t.axes) {
      if (a.value) continue;
      for (auto* list : {&ours, &theirs, &placed}) add(*list, std::to_string(axes.at(a.name)));
    }
    const auto made = make_inputs(t, w, axes) + make_outputs(t, w, axes);
    text += fmt::format("  {0}::run({1});\n  {0}_reference({2});\n{3}", b.name, ours, theirs,
                        comparisons(t, w, axes));
    if (b.compared_with == nullptr) return made + text;
    const auto timed = fmt::format(
        "  if (timed) {{\n    tell_ratio(\"{0}\", {1:.17g}, call_buffers({{{2}}}, {{{3}}}, {4}),\n"
        "               [](const call_buffers& at) {{ {5}::run({6}); }},\n"
        "               [](const call_buffers& at) {{ {5}_baseline({6}); }});\n    return true;\n  }}\n",
        w.uuid, w.weight, inputs, outputs, w.cache == "cold", b.name, placed);
    return made + timed + text;
  };
  test_parts parts;
  parts.includes = fmt::format("#include \"{}\"\n#include \"{}.hpp\"\n",
                               b.compared_with != nullptr ? "paired_times.hpp" : "check_runtime.hpp", b.name);
  parts.declarations = fmt::format("extern \"C\" void {}_reference({});\n", b.name, types);
  parts.child = "--ratios";
  if (b.compared_with != nullptr) {
    parts.declarations += fmt::format("extern \"C\" void {}_baseline({});\n", b.name, own_types);
    parts.speed = fmt::format(
        "kevo_bundle::speed_in_processes(words[0], {{{}, {:.17g}, {:.17g}, {}}}, {})",
        cpp_literal(b.compared_with->name), b.result->speedup_interval.low, b.result->speedup_interval.high,
        cpp_literal(b.result->device),
        std::count_if(t.workloads.begin(), t.workloads.end(), [](const workload& w) { return !w.hidden; }));
  }
  parts.declarations += '\n';
  files[fmt::format("test/{}_test.cpp", b.name)] = test_file(b, parts, body);
}

void add_cuda_test(const bundled& b, folder_text& files) {
  const auto& t = *b.what;
  files["test/check_runtime.hpp"] = shipped_file("check_runtime.hpp");
  files["test/device_memory.hpp"] = shipped_file("device_memory.hpp");
  files["test/device_times.hpp"] = shipped_file("device_times.hpp");
  const auto body = [&](const workload& w, const axes_map& axes) {
    std::string text = make_inputs(t, w, axes) + make_outputs(t, w, axes);
    std::string sizes;
    for (const auto& a : t.axes) {
      if (!a.value) sizes += fmt::format("  @.{} = {};\n", a.name, axes.at(a.name));
    }
    const auto with = [](std::string lines, const std::string& name) {
      for (auto at = lines.find('@'); at != std::string::npos; at = lines.find('@'))
        lines.replace(at, 1, name);
      return lines;
    };
    std::string ours = fmt::format("  {0}::arguments a;\n", b.name) + with(sizes, "a");
    std::string theirs = fmt::format("  {0}_reference::arguments r;\n", b.name) + with(sizes, "r");
    std::string moved;
    for (const auto& input : t.inputs) {
      text += fmt::format("  device_memory {0}_there({0});\n", input.name);
      moved += fmt::format("    {0}_there.move(random);\n    a.{0} = {0}_there.as<const {1}>();\n",
                           input.name, cpp_type(input.dtype));
      for (const auto& [list, which] : {std::pair(&ours, "a"), std::pair(&theirs, "r")}) {
        *list += fmt::format("  {}.{} = {}_there.as<const {}>();\n", which, input.name, input.name,
                             cpp_type(input.dtype));
      }
    }
    std::string read;
    for (const auto& output : t.outputs) {
      text += fmt::format("  device_memory {0}_there({0});\n  const device_memory {0}_wide({0}_expected);\n",
                          output.name);
      moved += fmt::format("    {0}_there.move(random);\n    a.{0} = {0}_there.as<{1}>();\n", output.name,
                           cpp_type(output.dtype));
      ours += fmt::format("  a.{0} = {0}_there.as<{1}>();\n", output.name, cpp_type(output.dtype));
      theirs += fmt::format("  r.{0} = {0}_wide.as<{1}>();\n", output.name,
                            is_real(output) ? "double" : "std::int64_t");
      read += fmt::format("  {0}_there.read({0});\n  {0}_wide.read({0}_expected);\n", output.name);
    }
    for (const auto& name : scale_tensors(t)) {
      text += fmt::format("  const device_memory {0}_wide({0}_expected);\n", name);
      theirs += fmt::format("  r.{0} = {0}_wide.as<double>();\n", name);
      read += fmt::format("  {0}_wide.read({0}_expected);\n", name);
    }
    text += ours + theirs;
    text += fmt::format(
        "  device_memory space({0}::workspace_bytes(a));\n  a.workspace = space.raw();\n"
        "  const device_memory reference_space({0}_reference::workspace_bytes(r));\n  r.workspace = "
        "reference_space.raw();\n  {0}::launch(a, nullptr);\n  {0}_reference::launch(r, nullptr);\n"
        "  check(cuCtxSynchronize(), \"running the program and the reference\");\n{1}{2}",
        b.name, read, comparisons(t, w, axes));
    text += fmt::format(
        "  // As in kevo, each call has other addresses.\n  const auto place = [&] {{\n{0}    "
        "space.move(random);\n"
        "    a.workspace = space.raw();\n  }};\n"
        "  const auto call = [&](CUstream stream) {{ {1}::launch(a, stream); }};\n"
        "  if (right && timed) tell_time(\"{2}\", times_of(place, call, {3}, 50), {4});\n",
        moved, b.name, w.uuid, w.cache == "cold", recorded_ms(*b.result, w.uuid));
    return text;
  };
  files[fmt::format("test/{}_test.cpp", b.name)] = test_file(
      b,
      {fmt::format("#include \"device_memory.hpp\"\n#include \"device_times.hpp\"\n#include "
                   "\"{0}.hpp\"\n#include \"{0}_reference.hpp\"\n",
                   b.name),
       "", "    const device_context device;\n", "--times",
       fmt::format("kevo_bundle::time_in_processes(words[0], 5, kevo_bundle::device_context().name(), {})",
                   cpp_literal(b.result->device))},
      body);
}

}  // namespace kevo::bundle
