#pragma once
// Times a candidate that has been checked: how many pairs, compared with what, and when there are enough.

#include <cstddef>
#include <map>

#include <kevo/evaluate/statistics.hpp>

#include "fitness/build/compiler.hpp"
#include "fitness/cascade/cascade.hpp"
#include "fitness/cpu/bench.hpp"
#include "fitness/cpu/runner.hpp"

namespace kevo {

/// One evaluation on its way through the cascade.
struct evaluation_state : cascade_state {
  build_result built = {};
  std::map<std::size_t, estimate> comparators = {};  // of the workloads that are compared indirectly
  bool waited_for_files = false;
  bool otherwise = false;  // the program runs in the other way of its kind: `program_kind::otherwise`
  bool differs = false;    // its processes say that the ways differ
  bool hopeless = false;   // far slower than the best program
  std::map<std::size_t, content_list> to_check = {};  ///< contents of each workload, drawn so far
  /// Contents of each workload with which it is checked while it is timed.
  std::map<std::size_t, content_list> unchecked = {};
  std::map<std::size_t, double> spread_ns = {};  // by how much a workload's time may be too small
};

/// Times all visible workloads. @param fresh for a confirmation @return false if the candidate failed
bool time_workloads(test_bench& bench, evaluation_state& p, runner& candidate, bool fresh);

/// The same for the baseline's own program, without checks.
bool time_baseline_itself(test_bench& bench, evaluation_state& p, runner& candidate);

/// The speedups over the baselines besides the first one, with intervals from fewer pairs.
void time_other_baselines(test_bench& bench, evaluation_state& p, runner& candidate);

}  // namespace kevo
