#pragma once
// What NVIDIA's tools write, read. Pure functions on text.

#include <map>
#include <string>
#include <string_view>

namespace kevo::cuda {

/// What a report of compute-sanitizer says.
struct sanitizer_findings {
  bool finished = false;  ///< it has a summary: the tool came to its end
  int errors = 0;
  int warnings = 0;  ///< of racecheck: hazards that may be meant
  /// The first report, a few printable lines without the tool's decoration and the host's stack.
  std::string first;
};
sanitizer_findings read_sanitizer_report(std::string_view log);

/// Figures of one call by Nsight Compute, kernels weighted by how long they took.
struct profile_figures {
  bool there = false;
  std::string missing;            ///< a sentence, where there are none
  double dram_throughput = 0;     ///< share of the peak
  double sm_throughput = 0;       ///< share of the peak
  double achieved_occupancy = 0;  ///< share of the warps that a multiprocessor can hold
  double l2_hit_rate = 0;         ///< share of the sectors
};

/// The metrics that `read_ncu_csv` wants, as the argument of --metrics.
std::string ncu_metrics();
/// Of `ncu --csv --print-units base --metrics ...`: a line for each kernel and metric, after lines of the
/// tool's own.
profile_figures read_ncu_csv(std::string_view log);

/// For archives and for people; empty if there are none.
std::map<std::string, double> measures_of(const profile_figures& figures);
std::string describe(const profile_figures& figures);

}  // namespace kevo::cuda
