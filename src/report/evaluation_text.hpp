#pragma once
// An evaluation in words and a table, for a terminal.

#include <string>

#include <kevo/evaluation.hpp>

namespace kevo {

/// Several lines, the last one ended: outcome, speedup with its interval, a row per workload (hidden ones say
/// only whether they passed), measures, feedback.
std::string describe(const evaluation& e, const std::string& task_name);

}  // namespace kevo
