#include "src/base/text/two_times.hpp"

#include "src/base/text/format.hpp"

namespace kevo {

bool has_two_times(const evaluation& e) {
  return e.device_speedup > 0 && e.host_speedup > 0;
}

bool has_two_times(const workload_result& w) {
  return w.device.ns > 0 && w.host.ns > 0;
}

std::vector<std::pair<std::string, std::string>> two_speedups(const evaluation& e, bool unicode) {
  if (!has_two_times(e)) return {};
  const auto text = [&](double speedup, const interval& range) {
    return format::speedup(speedup, range.low, range.high, unicode);
  };
  return {{"device time", text(e.device_speedup, e.device_speedup_interval)},
          {"host time", text(e.host_speedup, e.host_speedup_interval)}};
}

std::vector<std::string> two_times_cells(const workload_result& w, bool unicode) {
  std::vector<std::string> cells;
  for (const auto* time : {&w.device, &w.host}) {
    cells.push_back(format::time(time->ns, unicode));
    cells.push_back(time->range.high > 0 ? format::time(time->range.low, unicode) + " - " +
                                               format::time(time->range.high, unicode)
                                         : "-");
    cells.push_back(format::time(time->baseline_ns, unicode));
    cells.push_back(format::speedup(time->speedup, unicode));
  }
  return cells;
}

}  // namespace kevo
