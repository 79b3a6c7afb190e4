// What the task at hand costs on the device at hand, at best: minimum times that no honest call beats, and
// the roofline.

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <kevo/task_extents.hpp>

#include "fitness/cascade/bounds.hpp"
#include "fitness/cascade/cascade.hpp"
#include "fitness/cuda/measure/gpu_bench.hpp"
#include "fitness/cuda/measure/minimum_times.hpp"
#include "fitness/oracle/element_type.hpp"

namespace kevo::cuda {
namespace {

double bytes_of(const std::vector<tensor>& tensors, const std::map<std::string, std::int64_t>& axes) {
  double bytes = 0;
  for (const auto& one : tensors) {
    double elements = 1;
    for (const auto extent : extents(one, axes)) elements *= static_cast<double>(extent);
    if (!one.scalar) bytes += elements * static_cast<double>(element_type_of(one).size);
  }
  return bytes;
}

// Of the widest operand: a product of operands no wider than a format is exact in it.
double operand_roundoff(const task& t, bool& integers) {
  double finest = 1;
  integers = true;
  for (const auto& input : t.inputs) {
    if (input.scalar) continue;
    const auto& type = element_type_of(input);
    if (type.kind != element_kind::real) continue;
    integers = false;
    finest = std::min(finest, type.unit_roundoff);
  }
  return finest;
}

// Whether more than half of what is read are integers of 8 bits, as in a product of quantized matrices.
bool has_narrow_integers(const task& t, const std::map<std::string, std::int64_t>& axes) {
  std::vector<tensor> narrow;
  for (const auto& input : t.inputs) {
    const auto& type = element_type_of(input);
    if (type.kind == element_kind::integer && type.size == 1) narrow.push_back(input);
  }
  return 2 * bytes_of(narrow, axes) > bytes_of(t.inputs, axes);
}

// The loosest of the outputs': operations that only one of them needs may be coarse.
double tolerated_roundoff(const task& t, const workload& w, const std::map<std::string, std::int64_t>& axes) {
  double loosest = 0;
  for (const auto& output : t.outputs) {
    const auto& type = element_type_of(output);
    const auto rule = tolerance_for(t, w, output.name);
    if (rule.rule == "accumulation") {
      const auto length =
          rule.length ? rule.length->evaluate([&](std::string_view name) -> std::optional<std::int64_t> {
            const auto it = axes.find(std::string(name));
            return it == axes.end() ? std::nullopt : std::optional(it->second);
          })
                      : 1;
      const double summands = std::max(1.0, static_cast<double>(length));
      loosest = std::max(loosest,
                         roundoff_allowed(rule.factor * type.unit_roundoff * std::sqrt(summands), summands));
    } else if (rule.rule == "bounds") {
      // An absolute bound says nothing of the size of elements: they may be as small as a thousandth.
      loosest = std::max({loosest, rule.max_rtol, 1e3 * rule.max_atol});
    }
    if (rule.required_matched_ratio < 1 || rule.rule == "finite") loosest = 1;
  }
  return loosest;
}

compulsory_work work_of(const task& t, std::size_t workload) {
  const auto& w = t.workloads[workload];
  const auto axes = axis_values(t, w);
  compulsory_work work;
  work.needed.roundoff = operand_roundoff(t, work.needed.integers);
  work.needed.narrow_integers = has_narrow_integers(t, axes);
  const double bytes = cost_of(t, t.cost.bytes, workload);
  work.written_bytes = std::min(bytes, bytes_of(t.outputs, axes));
  work.read_bytes = bytes - work.written_bytes;
  work.cold = w.cache == "cold";
  return work;
}

device_peaks peaks_of(const device_description& device) {
  return {rates_of(device.major, device.minor), static_cast<double>(device.multiprocessors),
          1e3 * device.clock_khz, device.peak_bytes_per_s(), static_cast<double>(device.l2_bytes)};
}

}  // namespace

// The roofline: bandwidth as measured, arithmetic by the best honest way to the full accuracy of the
// operands.
time_bound gpu_bench::roofline_of(std::size_t workload) const {
  auto work = work_of(*task_, workload);
  work.operations = cost_of(*task_, task_->cost.flops, workload);
  // The last two bits of an operand are what its halves leave out.
  work.needed.roundoff *= 4;
  const auto least = least_times_of(work, peaks_of(device_->facts()));
  const double measured = ceilings_.float32_flops_per_s;
  const double bandwidth = ceilings_.copy_bytes_per_s;
  const double bytes = work.read_bytes + work.written_bytes;
  return {least.arithmetic_ns > 0 ? least.arithmetic_ns
          : measured > 0          ? 1e9 * work.operations / measured
                                  : 0,
          bandwidth > 0 ? 1e9 * bytes / bandwidth : 0};
}

double gpu_bench::speed_of_light_ns(std::size_t workload) const {
  return roofline_of(workload).longest();
}

void gpu_bench::describe_machine() {
  const auto& is = device_->facts();
  machine_["processor"] = fmt::format(
      "{} multiprocessors at {:.2f} GHz, each with {} registers, {} KiB of shared memory ({} KiB a block), "
      "{} threads; L2 {} MiB",
      is.multiprocessors, 1e-6 * is.clock_khz, is.registers_per_multiprocessor,
      is.shared_per_multiprocessor / 1024, is.shared_per_block / 1024, is.threads_per_multiprocessor,
      is.l2_bytes >> 20U);
  std::string matrix;
  if (const auto rates = rates_of(is.major, is.minor)) {
    const double cycles = 1e-9 * is.clock_khz * is.multiprocessors;  // of all, in units of 10^12 a second
    for (const auto& [name, rate] : {std::pair("TF32", rates->tf32), std::pair("float16", rates->fp16),
                                     std::pair("int8", rates->int8)}) {
      if (rate > 0) matrix += fmt::format(", {} {:.3g}", name, rate * cycles);
    }
  }
  machine_["peaks"] =
      fmt::format("{:.3g} TFLOP/s in float32 without tensor cores and {:.3g} TB/s of copies, measured",
                  1e-12 * ceilings_.float32_flops_per_s, 1e-12 * ceilings_.copy_bytes_per_s) +
      (matrix.empty() ? "" : "; tensor cores by datasheet, TOP/s: " + matrix.substr(2));
  const std::string bounds = bounds_text(*task_, [this](std::size_t i) { return roofline_of(i); });
  if (!bounds.empty()) machine_["bounds"] = bounds;
}

// By the task's own word alone: `min_flops`, its bytes, and what its tolerance takes.
double gpu_bench::minimum_ns(std::size_t workload, program_kind kind) const {
  auto work = work_of(*task_, workload);
  work.operations = cost_of(*task_, task_->cost.min_flops, workload);
  work.needed.roundoff =
      std::max(work.needed.roundoff, tolerated_roundoff(*task_, task_->workloads[workload],
                                                        axis_values(*task_, task_->workloads[workload])));
  const double longest = least_times_of(work, peaks_of(device_->facts())).longest();
  // The launch of the empty program is subtracted from what intervals show.
  return kind == program_kind::declared ? std::max(longest, least_launch_ns) : longest;
}

}  // namespace kevo::cuda
