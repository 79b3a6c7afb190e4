#include "src/suite/perf.hpp"

#include <algorithm>
#include <array>

#include <kevo/dtype.hpp>
#include <kevo/error.hpp>
#include <kevo/task_extents.hpp>

#include "fitness/cascade/cascade.hpp"
#include "src/base/tensor_file/element_count.hpp"

namespace kevo {
namespace {

/// [bytes] Of all inputs and outputs; 0 if one of them is not known.
double bytes_of_tensors(const task& t, const workload& w) {
  const auto axes = axis_values(t, w);
  double sum = 0;
  try {
    for (const auto* list : {&t.inputs, &t.outputs}) {
      for (const auto& one : *list) {
        if (one.scalar) continue;
        const auto type = find_dtype(one.dtype);
        const auto bytes = type ? detail::bytes_of_shape(extents(one, axes), type->size) : std::nullopt;
        if (!bytes) return 0;
        sum += static_cast<double>(*bytes);
      }
    }
  } catch (const error&) {  // a shape without a value
    return 0;
  }
  return sum;
}

/// `work` of a call in `times` nanoseconds, in units of `unit` per second.
std::optional<work_rate> rate_of(double work, double time_ns, const std::optional<interval>& times,
                                 double unit) {
  if (!(work > 0)) return std::nullopt;
  const double scale = 1e9 * work / unit;
  work_rate rate{scale / time_ns, std::nullopt};
  if (times) rate.range = interval{scale / times->high, scale / times->low};
  return rate;
}

}  // namespace

std::string_view to_string(bytes_source s) {
  constexpr std::array<std::string_view, 3> names = {"unknown", "cost", "tensors"};
  return names[static_cast<std::size_t>(s)];
}

std::vector<workload_work> work_of(const task& t) {
  std::vector<workload_work> all;
  for (std::size_t i = 0; i < t.workloads.size(); ++i) {
    const workload& w = t.workloads[i];
    if (w.hidden) continue;
    workload_work one{.uuid = w.uuid, .flops = cost_of(t, t.cost.flops, i)};
    one.bytes = t.cost.bytes ? cost_of(t, t.cost.bytes, i) : bytes_of_tensors(t, w);
    if (one.bytes > 0) one.counted = t.cost.bytes ? bytes_source::cost : bytes_source::tensors;
    all.push_back(std::move(one));
  }
  return all;
}

std::vector<workload_perf> perf_of(const evaluation& e, const std::vector<workload_work>& work) {
  std::vector<workload_perf> all;
  if (!e.valid()) return all;
  for (const auto& w : e.workloads) {
    if (w.hidden || !(w.time_ns > 0)) continue;
    workload_perf one{.uuid = w.uuid, .time_ns = w.time_ns, .times = {}, .baseline_ns = w.baseline_ns};
    if (w.time_interval.low > 0 && w.time_interval.high > w.time_interval.low) one.times = w.time_interval;
    const auto known = std::find_if(work.begin(), work.end(),
                                    [&](const workload_work& each) { return each.uuid == w.uuid; });
    if (known != work.end()) {
      one.gb_per_s = rate_of(known->bytes, w.time_ns, one.times, 1e9);
      one.counted = known->counted;
      one.tflop_per_s = rate_of(known->flops, w.time_ns, one.times, 1e12);
    }
    all.push_back(std::move(one));
  }
  return all;
}

std::optional<largest_rate> largest(const std::vector<workload_perf>& all,
                                    std::optional<work_rate> workload_perf::*rate) {
  std::optional<largest_rate> best;
  interval ends{0, 0};
  bool spread = true;
  for (const auto& one : all) {
    if (!(one.*rate)) continue;
    const work_rate& each = *(one.*rate);
    spread = spread && each.range.has_value();
    if (each.range) ends = {std::max(ends.low, each.range->low), std::max(ends.high, each.range->high)};
    if (!best || each.value > best->rate.value) best = largest_rate{each, one.uuid, one.counted};
  }
  if (best) best->rate.range = spread ? std::optional(ends) : std::nullopt;
  return best;
}

}  // namespace kevo
