#include "fitness/cuda/measure/two_clocks.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <kevo/evaluate/statistics.hpp>

namespace kevo::cuda {
namespace {

constexpr double tolerance_share = 0.005;  // besides the tolerance that is given

}  // namespace

double middle_mean(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  const auto quarter = static_cast<std::ptrdiff_t>(times.size() / 4);
  const auto from = times.begin() + quarter;
  const auto to = times.end() - quarter;
  return std::accumulate(from, to, 0.0) / static_cast<double>(to - from);
}

clock_check reconcile(double event_ns, double outside_ns, double constant_ns, double tolerance_ns) {
  const double seen = outside_ns - constant_ns;
  if (std::abs(seen - event_ns) <= tolerance_ns + tolerance_share * seen) return {event_ns, true};
  // Whatever is the truth, a claim never makes a call shorter than the trusted clock saw it.
  return {std::max(seen, event_ns), false};
}

double clock_excess(double outside_ns, double event_ns, int calls, const std::vector<double>& each_outside_ns,
                    const std::vector<double>& each_event_ns) {
  std::vector<double> excesses;
  for (std::size_t k = 0; k < each_outside_ns.size() && k < each_event_ns.size(); ++k)
    excesses.push_back(each_outside_ns[k] - each_event_ns[k]);
  if (excesses.empty()) return (outside_ns - event_ns) / std::max(calls, 1);
  std::sort(excesses.begin(), excesses.end());
  excesses.resize(excesses.size() - excesses.size() / 10);
  return std::accumulate(excesses.begin(), excesses.end(), 0.0) / static_cast<double>(excesses.size());
}

double hidden_time(const std::vector<double>& candidate_excess, const std::vector<double>& baseline_excess,
                   double allowance_ns) {
  if (candidate_excess.size() < 4 || baseline_excess.size() < 4) return 0;
  const auto error_of = [](const std::vector<double>& values) {
    const double middle = median(values);
    std::vector<double> distances;
    distances.reserve(values.size());
    for (const double value : values) distances.push_back(std::abs(value - middle));
    // Of a median: 1.25 standard deviations of one value, 1.48 median distances each, by the root of their
    // number.
    return 1.25 * 1.48 * median(distances) / std::sqrt(static_cast<double>(values.size()));
  };
  const double error = std::hypot(error_of(candidate_excess), error_of(baseline_excess));
  return std::max(0.0, median(candidate_excess) - median(baseline_excess) - 3 * error - allowance_ns);
}

}  // namespace kevo::cuda
