#pragma once
// An evaluation in words and a table, for a terminal.

#include <string>

#include <kevo/evaluation.hpp>

namespace kevo {

/// What was found, on one line: "13.62x [13.41, 13.80] over seed" of a speedup, without the interval if it
/// has no width; "score 1001.7" where the fitness function gave a score alone; both if it gave two numbers;
/// empty if none.
std::string finding(double speedup, const interval& range, double score, const std::string& baseline,
                    int digits);

/// Several lines, the last one ended: outcome, what was found, a row per workload (hidden ones say
/// only whether they passed), measures, feedback.
std::string describe(const evaluation& e, const std::string& task_name);

/// What a program chose of its own compilation, on one line: "compiler nvcc, registers 128 (nvcc 13.0)";
/// empty if it chose nothing.
std::string build_text(const evaluation& e);

/// Why a candidate failed, on one line: its reasons, joined by "; ", and the line of its feedback that says
/// most, unless one holds the other. "the fitness function gave no reason" if both are empty.
std::string failure_text(const evaluation& e);

}  // namespace kevo
