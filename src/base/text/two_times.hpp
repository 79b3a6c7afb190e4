#pragma once
// The two times of a call on a device beside the host, in words.

#include <string>
#include <utility>
#include <vector>

#include <kevo/evaluation.hpp>

namespace kevo {

/// Whether both were measured.
bool has_two_times(const evaluation& e);
bool has_two_times(const workload_result& w);

/// {"device time", "1.340x [1.300 - 1.380]"}, {"host time", "3.700x [3.610 - 3.800]"}; empty unless both were
/// measured.
std::vector<std::pair<std::string, std::string>> two_speedups(const evaluation& e, bool unicode);

/// Cells of one workload, of either time: time, its interval, the baseline's, speedup.
std::vector<std::string> two_times_cells(const workload_result& w, bool unicode);

}  // namespace kevo
