#pragma once
// Whether calls of the program take on this device what the run measured.

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "check_runtime.hpp"

namespace kevo_bundle {

/// Prints the median of the times in the words of `time_in_processes`, with what the run measured.
inline void tell_time(const char* workload, const std::vector<double>& times_ms, double recorded_ms,
                      double low_ms, double high_ms) {
  std::printf("time %.9g %.9g %.9g %.9g %s\n", median(times_ms), recorded_ms, low_ms, high_ms, workload);
}

/// The medians of one workload in several processes, and what the run measured [ms].
struct told_times {
  std::vector<double> medians;
  double recorded = 0, low = 0, high = 0;
};

/// Prints them; false if the median lies outside of the tolerated interval.
inline bool judge_times(const std::string& workload, const told_times& told) {
  const auto [least, most] = std::minmax_element(told.medians.begin(), told.medians.end());
  const double middle = median(told.medians);
  std::printf("%s: %.5g ms a call (median of %zu processes, %.5g to %.5g)", workload.c_str(), middle,
              told.medians.size(), *least, *most);
  const bool known = told.recorded > 0 && told.high > 0;
  const bool below = known && middle < told.low * (1 - tolerated);
  const bool above = known && middle > told.high * (1 + tolerated);
  if (told.recorded > 0) std::printf("; the run measured %.5g ms", told.recorded);
  if (known)
    std::printf(" [%.5g, %.5g], and the median is %s", told.low, told.high,
                middle < told.low    ? "below this interval"
                : middle > told.high ? "above this interval"
                                     : "within this interval");
  if (known && !below && !above && (middle < told.low || middle > told.high))
    std::printf(" by less than %.0f %%", 100 * tolerated);
  std::printf("\n");
  return !below && !above;
}

/// Prints the median of the processes' medians for each workload, and ends with 1 if one of them is not what
/// the run measured, and with `skipped` if the device `here` is not the one that was `recorded`.
inline int time_in_processes(const std::string& program, int processes, const std::string& here,
                             const std::string& recorded) {
  if (here != recorded) return skip_on(here, recorded);
  std::map<std::string, told_times> all;
  const auto read = [&](int process, const char* line) {
    char workload[1024];
    double middle = 0, recorded_ms = 0, low = 0, high = 0;
    if (std::sscanf(line, "time %lf %lf %lf %lf %1023[^\n]", &middle, &recorded_ms, &low, &high, workload) ==
        5) {
      auto& told = all[workload];
      told.medians.push_back(middle);
      told.recorded = recorded_ms, told.low = low, told.high = high;
    } else if (process == 0) {
      std::fputs(line, stdout);
    }
  };
  if (!read_processes(program, "--times", processes, read)) return 1;
  bool right = true;
  for (const auto& [workload, told] : all) right = judge_times(workload, told) && right;
  std::puts(right ? "passed" : "FAILED: the program does not take what the run measured");
  return right ? 0 : 1;
}

}  // namespace kevo_bundle
