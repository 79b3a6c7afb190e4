#pragma once
// What an evaluation says in words. Nothing here tells of a hidden workload more than that it failed.

#include <string>

#include <kevo/evaluation.hpp>

namespace kevo {

/// "12.3 us", "4.56 ms": three significant digits.
std::string time_text(double ns);

/// ", 171 us to 208 us at 8 places of its code": the times of the pairs from their 10 % to their 90 %
/// quantile, which the noise of the machine is in, too. Empty for fewer than 3 pairs.
std::string placement_text(const workload_result& w);

/// The feedback of a valid evaluation: speedup with interval, then a line for each visible workload.
std::string feedback_of_valid(const evaluation& e);

}  // namespace kevo
