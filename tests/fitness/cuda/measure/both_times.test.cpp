// Device times and host times keep their names, whichever of them counts.
#include "fitness/cuda/measure/both_times.hpp"

#include <doctest/doctest.h>

namespace {

kevo::evaluation measured(double speedup, double time_ns) {
  kevo::evaluation e;
  e.outcome = kevo::outcome::valid;
  e.speedup = speedup;
  e.speedup_interval = {0.9 * speedup, 1.1 * speedup};
  kevo::workload_result w;
  w.time_ns = time_ns;
  w.time_interval = {0.9 * time_ns, 1.1 * time_ns};
  w.baseline_ns = speedup * time_ns;
  w.speedup = speedup;
  w.sol_fraction = 1e3 / time_ns;
  e.workloads = {w, w};
  e.workloads[1].hidden = true;
  return e;
}

}  // namespace

TEST_CASE("both times have their names, and the one that counts is the speedup") {
  const auto device = measured(1.34, 40e3);
  const auto host = measured(3.7, 50e3);
  for (const bool host_counts : {false, true}) {
    auto e = host_counts ? host : device;
    kevo::cuda::keep_both(e, host_counts ? device : host, host_counts);
    CHECK(e.speedup == (host_counts ? 3.7 : 1.34));
    CHECK(e.device_speedup == 1.34);
    CHECK(e.device_speedup_interval == device.speedup_interval);
    CHECK(e.host_speedup == 3.7);
    CHECK(e.host_speedup_interval == host.speedup_interval);
    CHECK(e.context.at("time") == (host_counts ? "host" : "device"));
    CHECK(e.workloads[0].device.ns == 40e3);
    CHECK(e.workloads[0].device.baseline_ns == device.workloads[0].baseline_ns);
    CHECK(e.workloads[0].host.range == host.workloads[0].time_interval);
    CHECK(e.workloads[0].sol_fraction == device.workloads[0].sol_fraction);
    CHECK(e.workloads[1].host == kevo::time_figures{});  // hidden
    CHECK(kevo::cuda::by_device_times(e).workloads[0].time_ns == 40e3);
  }
}

TEST_CASE("where one time was measured, there are not two") {
  auto e = measured(1.34, 40e3);
  kevo::cuda::keep_both(e, kevo::evaluation(), false);
  CHECK(e.host_speedup == 0);
  CHECK(e.device_speedup == 0);
  CHECK_FALSE(e.context.contains("time"));
  CHECK(kevo::cuda::by_device_times(e).workloads[0].time_ns == 40e3);
}
