#pragma once
// What an evaluation says in words. Nothing here tells of a hidden workload more than that it failed, and
// how.

#include <string>

#include <kevo/evaluation.hpp>

namespace kevo {

/// "12.3 us", "4.56 ms": three significant digits.
std::string time_text(double ns);

/// The feedback of a valid evaluation: speedup with interval, then a line for each visible workload.
std::string feedback_of_valid(const evaluation& e);

/// "a hidden workload failed: its result is wrong": no more than the outcome says, which everybody is told.
std::string hidden_failure_text(outcome what);

}  // namespace kevo
