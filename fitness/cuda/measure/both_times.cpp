#include "fitness/cuda/measure/both_times.hpp"

#include <algorithm>
#include <cstddef>

namespace kevo::cuda {
namespace {

time_figures time_of(const workload_result& w) {
  return {.ns = w.time_ns, .range = w.time_interval, .baseline_ns = w.baseline_ns, .speedup = w.speedup};
}

}  // namespace

void keep_both(evaluation& e, const evaluation& other, bool host_counts) {
  if (!(other.speedup > 0) || !(e.speedup > 0)) return;
  const evaluation& device = host_counts ? other : e;
  const evaluation& host = host_counts ? e : other;
  e.device_speedup = device.speedup;
  e.device_speedup_interval = device.speedup_interval;
  e.host_speedup = host.speedup;
  e.host_speedup_interval = host.speedup_interval;
  for (std::size_t i = 0; i < std::min(e.workloads.size(), other.workloads.size()); ++i) {
    if (e.workloads[i].hidden) continue;
    e.workloads[i].device = time_of(device.workloads[i]);
    e.workloads[i].host = time_of(host.workloads[i]);
    // How well a program uses the device is a question about the device's time.
    e.workloads[i].sol_fraction = device.workloads[i].sol_fraction;
  }
  e.context["time"] = host_counts ? "host" : "device";
}

evaluation by_device_times(evaluation e) {
  for (auto& w : e.workloads) {
    if (!(w.device.ns > 0)) continue;
    w.time_ns = w.device.ns;
    w.time_interval = w.device.range;
    w.baseline_ns = w.device.baseline_ns;
    w.speedup = w.device.speedup;
  }
  return e;
}

}  // namespace kevo::cuda
