#pragma once
// Where the axes of pictures carry figures: shared by the curve of a report and the curves of a laboratory.

#include <vector>

namespace kevo::html {

/// Multiples of 1, 2 or 5 times a power of ten within [low, high], about `about` of them, in rising order.
/// `high` must be above `low`.
std::vector<double> linear_ticks(double low, double high, int about);

/// Round values of each decade within [low, high], for a logarithmic axis: the fewer, the more decades there
/// are. `low` must be positive and below `high`.
std::vector<double> log_ticks(double low, double high);

}  // namespace kevo::html
