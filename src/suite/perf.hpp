#pragma once
// TritonBench's "Perf": the rates at which a correct solution moves bytes and computes, from the work of a
// call and its measured time. docs/bench.md has the definitions.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <kevo/evaluation.hpp>
#include <kevo/task.hpp>

namespace kevo {

/// What a number of bytes counts.
enum class bytes_source : std::uint8_t {
  unknown,
  cost,     ///< the task's `cost.bytes`
  tensors,  ///< the sizes of all inputs and outputs, each once: the task has no `cost.bytes`
};
/// "unknown", "cost" or "tensors".
std::string_view to_string(bytes_source s);

/// The work of one call of a workload.
struct workload_work {
  std::string uuid;
  double bytes = 0;  ///< 0 if unknown
  bytes_source counted = bytes_source::unknown;
  double flops = 0;  ///< the task's `cost.flops`; 0 if unknown
};

/// The work of the visible workloads of a task, in their order. Inputs that are passed by value have no
/// bytes. Bytes are unknown if the task has no `cost.bytes` and a shape has no value, or a type no known
/// size.
std::vector<workload_work> work_of(const task& t);

/// A rate with its confidence interval: the work divided by the ends of the interval of the time.
struct work_rate {
  double value = 0;
  std::optional<interval> range;  ///< nothing if the time has no interval
};

/// The rates on one workload.
struct workload_perf {
  std::string uuid;
  double time_ns = 0;                 ///< [ns] of one call
  std::optional<interval> times;      ///< [ns] confidence interval of `time_ns`
  double baseline_ns = 0;             ///< [ns] 0 if not measured
  std::optional<work_rate> gb_per_s;  ///< [1e9 bytes / s]
  bytes_source counted = bytes_source::unknown;
  std::optional<work_rate> tflop_per_s;  ///< [1e12 operations / s]
};

/// The rates on the visible workloads that were timed, in the order of the evaluation. Empty unless the
/// evaluation is valid: the rate of a wrong program is no figure.
std::vector<workload_perf> perf_of(const evaluation& e, const std::vector<workload_work>& work);

/// The rate of a task: the largest over its workloads, as in TritonBench.
struct largest_rate {
  work_rate rate;    ///< its interval goes from the largest lower end to the largest upper end
  std::string uuid;  ///< of the workload with the largest value
  bytes_source counted = bytes_source::unknown;
};

/// The largest value of `rate` over the workloads; nothing if it is known for none.
std::optional<largest_rate> largest(const std::vector<workload_perf>& all,
                                    std::optional<work_rate> workload_perf::*rate);

}  // namespace kevo
