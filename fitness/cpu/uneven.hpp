#pragma once
// Work that a program does in some of its calls for all of them: it is in the mean of the calls, but not in
// their median, which is the time of a pair.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include <kevo/evaluate/statistics.hpp>

namespace kevo {

/// By how much the mean of some times exceeds their median; 0 for none. [ns] O(n).
inline double excess_of_mean(const std::vector<double>& times) {
  if (times.empty()) return 0;
  const double sum = std::accumulate(times.begin(), times.end(), 0.0);
  return sum / static_cast<double>(times.size()) - median(times);
}

/// What `excess_of_mean` of a candidate's calls may be by chance, as the calls of the baseline in the same
/// pair show: what else the machine does befalls calls in proportion to their time, and a little for each
/// call.
/// @param baseline times of the baseline's calls @param candidate_ns of a call of the candidate [ns]
inline double usual_excess(const std::vector<double>& baseline, double candidate_ns) {
  constexpr double most_for_each_ns = 1e3;
  constexpr std::size_t enough = 3;
  // One or two calls do not tell.
  if (baseline.size() < enough) return 0.5 * most_for_each_ns + 0.03 * candidate_ns;
  const double excess = std::max(excess_of_mean(baseline), 0.0);
  const double baseline_ns = std::max(median(baseline), 1.0);
  return std::max(std::min(excess, most_for_each_ns), excess * candidate_ns / baseline_ns);
}

/// Half of the width within which the median of some values probably lies, roughly; 0 for a single one.
inline double error_of_middle(const std::vector<double>& values) {
  return (quantile(values, 0.75) - quantile(values, 0.25)) / std::sqrt(static_cast<double>(values.size()));
}

/// `error_of_middle` of a candidate's excesses over a trusted program. A candidate can make its own values
/// differ as it likes, so that its error is at most twice that of the trusted program's, or `least_ns`. [ns]
inline double trusted_error(const std::vector<double>& excesses, double of_trusted, double least_ns) {
  return std::min(error_of_middle(excesses), std::max(2 * of_trusted, least_ns));
}

/// How much longer a call is in the mean than in the median because of what the candidate does; 0 if that is
/// not certain. The machine delays some calls, too, but seldom in most pairs. [ns]
/// @param excesses of each pair: the candidate's `excess_of_mean` minus `usual_excess`
/// @param usual of each pair: `usual_excess` @param call_ns of a call of the candidate [ns]
inline double worked_in_some_calls(const std::vector<double>& excesses, const std::vector<double>& usual,
                                   double call_ns) {
  constexpr double least_ns = 200;
  constexpr double least_share = 0.01;  // of a call
  constexpr std::size_t fewest = 3;
  if (excesses.size() < fewest) return 0;
  const double excess = median(excesses);
  const double least = std::max(least_ns, least_share * call_ns);
  return excess > least + 2 * trusted_error(excesses, error_of_middle(usual), least) ? excess : 0;
}

}  // namespace kevo
