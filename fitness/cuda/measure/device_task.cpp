#include "fitness/cuda/measure/device_task.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include <kevo/error.hpp>
#include <kevo/task_extents.hpp>

#include "fitness/cuda/device/type_code.hpp"
#include "fitness/cuda/measure/host_inputs.hpp"
#include "fitness/oracle/element_type.hpp"
#include "fitness/oracle/generate.hpp"
#include "fitness/oracle/signature.hpp"
#include "fitness/oracle/suite_rule.hpp"
#include "fitness/oracle/sum_bound.hpp"

namespace kevo::cuda {
namespace {

std::string wide_dtype(const tensor& t) {
  return element_type_of(t).kind == element_kind::real ? "float64" : "int64";
}

// The output whose elements a scale tensor belongs to.
const tensor& scaled_output(const task& t, const std::string& scale) {
  for (const auto& w : t.workloads) {
    for (const auto& output : t.outputs) {
      if (tolerance_for(t, w, output.name).scale == scale) return output;
    }
  }
  throw error(error_code::internal, "no output uses the scale '" + scale + "'");
}

device_output rule_of(const task& t, const workload& w, const tensor& output, std::uint64_t count,
                      const std::vector<std::string>& scales) {
  const auto rule = tolerance_for(t, w, output.name);
  const auto& type = element_type_of(output);
  device_output made;
  made.type = type_code(output.dtype);
  made.count = count;
  made.cap = rule.max_error_cap.value_or(-1);
  made.allow_negative_infinity = rule.allow_negative_inf;
  made.allowed_misses = static_cast<std::uint64_t>(
      std::floor(std::clamp(1 - rule.required_matched_ratio, 0.0, 1.0) * static_cast<double>(count) + 1e-9));
  made.min_cosine = rule.min_cosine.value_or(made.min_cosine);
  made.max_relative_l1 = rule.max_relative_l1.value_or(made.max_relative_l1);
  made.max_rmse = rule.max_rmse.value_or(made.max_rmse);
  if (is_python_task(t)) made.suite = suite_tolerance(type);
  if (rule.rule == "exact") return made;
  if (rule.rule == "finite") {
    made.rule = 1;
    made.p = std::numeric_limits<double>::max();
    return made;
  }
  if (rule.rule == "bounds") {
    made.rule = 1;
    made.p = rule.max_atol;
    made.q = rule.max_rtol;
    return made;
  }
  if (rule.rule != "accumulation" || type.kind != element_kind::real)
    throw error(error_code::input,
                "the tolerance rule '" + rule.rule + "' does not fit output '" + output.name + "'",
                {.file = t.file, .key = "tolerance"},
                "use bounds or exact, or accumulation for floating-point outputs");
  const auto axes = axis_values(t, w);
  const auto length = rule.length
                          ? rule.length->evaluate([&](std::string_view name) -> std::optional<std::int64_t> {
                              const auto it = axes.find(std::string(name));
                              return it == axes.end() ? std::nullopt : std::optional(it->second);
                            })
                          : 1;
  const auto bound = bound_sums(type, rule, length);
  made.rule = 2;
  made.p = bound.slope;
  made.q = bound.underflow;
  made.cancelling = bound.cancelling;
  made.summands = bound.summands;
  const auto place = std::find(scales.begin(), scales.end(), rule.scale);
  if (place != scales.end()) {
    made.scale = static_cast<std::int32_t>(place - scales.begin());
  } else if (rule.scale != output.name) {
    throw error(error_code::input, "the scale of output '" + output.name + "' is another output",
                {.file = t.file, .key = "tolerance"}, "use a separate scale tensor, or the output itself");
  }
  return made;
}

// What is drawn and what is accepted.
device_workload describe_workload(const task& t, const workload& w) {
  const auto scales = scale_tensors(t);
  const auto axes = axis_values(t, w);
  device_workload made;
  for (const auto& input : t.inputs) {
    if (input.scalar) continue;
    if (drawn_on_host(t, w, input)) {
      made.inputs.push_back({type_code(input.dtype), element_count(input, axes), std::string(given_input)});
      continue;
    }
    const auto recipe = resolved(generator_of(input, w), axes);
    made.inputs.push_back({type_code(input.dtype), element_count(input, axes), recipe.kind, recipe.a,
                           recipe.b, recipe.law, recipe.parameter});
  }
  for (const auto& output : t.outputs) {
    made.outputs.push_back(rule_of(t, w, output, element_count(output, axes), scales));
    // Absolute bounds were chosen for the task's own values.
    made.mild = made.mild || made.outputs.back().rule == 1;
  }
  for (const auto& name : scales) made.scales.push_back(element_count(scaled_output(t, name), axes));
  return made;
}

}  // namespace

launch_signature reference_signature(const task& t, const workload& w) {
  auto signature = signature_of(t, w);
  for (std::size_t i = 0; i < signature.outputs.size(); ++i)
    signature.outputs[i].dtype = wide_dtype(t.outputs[i]);
  const auto axes = axis_values(t, w);
  for (const auto& name : scale_tensors(t)) {
    signature.outputs.push_back({name, "float64", element_count(scaled_output(t, name), axes)});
  }
  signature.hidden = false;  // for the task's author
  return signature;
}

device_facts facts_for_plans(const device_description& device, std::uint64_t workspace_bytes) {
  const auto known = known_device(device.architecture());
  auto facts = known ? *known : device_facts{};
  facts.architecture = device.architecture();
  facts.sms = device.multiprocessors;
  const auto number = [](std::int32_t value) { return static_cast<std::uint32_t>(value); };
  facts.threads_per_sm = number(device.threads_per_multiprocessor);
  facts.blocks_per_sm = number(device.blocks_per_multiprocessor);
  facts.registers_per_sm = number(device.registers_per_multiprocessor);
  facts.shared_per_sm = number(device.shared_per_multiprocessor);
  facts.shared_per_block = number(device.shared_per_block);
  facts.workspace_bytes = workspace_bytes;
  return facts;
}

device_task describe_python_task(const task& t, const std::vector<plan>& plans) {
  if (!scale_tensors(t).empty()) {
    throw error(error_code::input, "a reference in Python gives no scale tensors",
                {.file = t.file, .key = "tolerance"},
                "use bounds (max_atol, max_rtol), exact, or accumulation with the output as its own scale");
  }
  device_task made;
  for (std::size_t i = 0; i < t.workloads.size(); ++i) {
    made.workloads.push_back(describe_workload(t, t.workloads[i]));
    made.workloads.back().reference = plans[i];
  }
  return made;
}

device_task describe_task(const task& t, const compiled_module& reference, const declared_launch& lines,
                          const device_facts& facts) {
  device_task made;
  made.reference = reference;
  for (const auto& w : t.workloads) {
    auto next = describe_workload(t, w);
    auto resolved = resolve(lines, reference_signature(t, w), reference, facts);
    if (const auto* failure = std::get_if<launch_failure>(&resolved)) {
      throw error(error_code::input,
                  "the reference cannot be launched on workload '" + w.uuid + "': " + failure->reason,
                  {.file = t.file, .key = "reference"});
    }
    next.reference = std::get<plan>(std::move(resolved));
    made.workloads.push_back(std::move(next));
  }
  return made;
}

namespace {

std::uint64_t bytes_of_tensors(const std::vector<tensor>& tensors, const task& t, const workload& w) {
  const auto axes = axis_values(t, w);
  std::uint64_t bytes = 0;
  for (const auto& one : tensors) {
    if (!one.scalar) bytes += element_count(one, axes) * element_type_of(one).size + 16384;
  }
  return bytes;
}

}  // namespace

std::uint64_t input_bytes(const task& t, const workload& w) {
  return bytes_of_tensors(t.inputs, t, w);
}
std::uint64_t call_bytes(const task& t, const workload& w) {
  return input_bytes(t, w) + bytes_of_tensors(t.outputs, t, w);
}

bool is_python_task(const task& t) {
  return t.reference && t.reference->language == "python";
}

void require_runnable_on_device(const task& t) {
  const error_place place{.file = t.file, .key = "reference"};
  if (!t.reference)
    throw error(error_code::input, "the CUDA backend needs a reference, and the task has none", place,
                "give axes, inputs, outputs, reference and workloads, or use fitness: {backend: command}");
  if (t.reference->language != "cuda" && !is_python_task(t))
    throw error(error_code::input, "the CUDA backend needs a reference in CUDA", place,
                "write reference: {language: cuda, file: reference.cu}");
  if (t.baselines.empty())
    throw error(error_code::input, "the task has no baseline", {.file = t.file, .key = "baselines"},
                "write baselines: [{name: seed, file: seed.cu}]");
  if (t.outputs.empty())
    throw error(error_code::input, "the task has no output", {.file = t.file, .key = "outputs"},
                "declare the tensors that the kernel writes under outputs");
  for (const auto* list : {&t.inputs, &t.outputs}) {
    for (const auto& one : *list) {
      if (type_code(one.dtype) < 0)
        throw error(error_code::input, "the CUDA backend does not support the dtype " + one.dtype,
                    {.file = t.file, .key = one.name});
    }
  }
}

std::uint64_t workspace_bytes(const plan& p) {
  std::uint64_t bytes = 0;
  for (const auto& space : p.workspaces) bytes += space.bytes + space.align;
  return bytes;
}

}  // namespace kevo::cuda
