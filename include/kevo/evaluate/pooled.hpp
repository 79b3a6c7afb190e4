#pragma once
// Several confirmations of one candidate as one: all their pairs together, with an interval that has room for
// what differs from one confirmation to the next. A pure function of the evaluations, so that a replay
// repeats it exactly.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include <kevo/evaluate/statistics.hpp>
#include <kevo/evaluation.hpp>

namespace kevo {

/// Valid evaluations of one candidate, oldest first.
using confirmations = std::span<const std::shared_ptr<const evaluation>>;

namespace detail {

/// A logarithm with the distances to the ends of its interval.
struct log_estimate {
  double center = 0;
  double down = 0;
  double up = 0;
};

inline log_estimate logarithm(const estimate& e) {
  const double center = std::log(e.value);
  const double infinity = std::numeric_limits<double>::infinity();
  const double down = e.range.low > 0 ? center - std::log(e.range.low) : infinity;
  const double up = std::isfinite(e.range.high) ? std::log(e.range.high) - center : infinity;
  return {center, std::max(0.0, down), std::max(0.0, up)};
}

/// The pairs of one workload of all confirmations, in the order of time.
inline std::vector<timing_pair> pairs_of(confirmations all, std::size_t workload) {
  std::vector<timing_pair> pairs;
  for (const auto& one : all) {
    const auto& some = one->workloads[workload].samples;
    pairs.insert(pairs.end(), some.begin(), some.end());
  }
  return pairs;
}

/// Whether every confirmation has pairs of the same visible workloads.
inline bool have_pairs(confirmations all) {
  const auto& last = all.back()->workloads;
  bool any = false;
  for (std::size_t i = 0; i < last.size(); ++i) {
    if (last[i].hidden || last[i].samples.empty()) continue;
    any = true;
    for (const auto& one : all) {
      if (one->workloads.size() != last.size() || one->workloads[i].uuid != last[i].uuid ||
          one->workloads[i].samples.empty())
        return false;
    }
  }
  return any;
}

/// Times and speedup of each visible workload from the pairs of all confirmations. The speedup of all.
inline estimate pool_pairs(evaluation& sum, confirmations all, double alpha) {
  std::vector<weighted_estimate> parts;
  for (std::size_t i = 0; i < sum.workloads.size(); ++i) {
    workload_result& w = sum.workloads[i];
    if (w.hidden || w.samples.empty()) continue;
    w.samples = pairs_of(all, i);
    std::vector<double> times;
    std::vector<double> baseline_times;
    for (const timing_pair& pair : w.samples) {
      if (!(pair.candidate_ns > 0 && pair.baseline_ns > 0)) continue;
      times.push_back(pair.candidate_ns);
      baseline_times.push_back(pair.baseline_ns);
    }
    if (times.empty()) return {};
    const estimate ratio = speedup_of(w.samples, alpha);
    const estimate time = positive_location(times, alpha);
    w.speedup = ratio.value;
    w.sol_fraction = w.sol_fraction * w.time_ns / time.value;  // its limit stays, its time is another
    w.time_ns = time.value;
    w.time_interval = time.range;
    w.baseline_ns = positive_location(baseline_times, alpha).value;
    parts.push_back({ratio, w.weight});
  }
  return geometric_mean(parts);
}

/// The mean of the speedups that the confirmations have by themselves, each weighted by its precision, in log
/// space. One without an end of its interval counts only where all are so.
inline log_estimate mean_of_results(confirmations all) {
  constexpr double narrowest = 1e-9;
  double weights = 0;
  double sum = 0;
  double plain = 0;
  for (const auto& one : all) {
    const log_estimate e = logarithm({one->speedup, one->speedup_interval});
    const double half = std::max(narrowest, 0.5 * (e.down + e.up));
    const double weight = std::isfinite(half) ? 1 / (half * half) : 0;
    weights += weight;
    sum += weight * e.center;
    plain += e.center / static_cast<double>(all.size());
  }
  if (!(weights > 0)) {
    const double infinity = std::numeric_limits<double>::infinity();
    return {plain, infinity, infinity};
  }
  const double half = 1 / std::sqrt(weights);
  return {sum / weights, half, half};
}

/// How often the interval of an evaluation misses, as the evaluation says; 5 % if it says nothing.
inline double interval_alpha(const evaluation& e) {
  double alpha = 0.05;
  if (const auto said = e.context.find(interval_alpha_key); said != e.context.end()) {
    double given = 0;
    const char* const end = said->second.data() + said->second.size();
    if (std::from_chars(said->second.data(), end, given).ptr == end && given > 0 && given < 1) alpha = given;
  }
  return alpha;
}

/// As many as make Student's distribution the normal one, to 1e-4 of a quantile.
inline constexpr double many_degrees_of_freedom = 10000;

/// The x that |X| of a standard normal distribution exceeds with probability `alpha`.
inline double normal_quantile(double alpha) {
  return student_t(alpha, many_degrees_of_freedom);
}

/// The standard error of a speedup, in log space: half the width of its interval over the quantile that the
/// interval was made with. Without pairs that is the normal distribution's.
inline double standard_error(const evaluation& e) {
  double freedom = many_degrees_of_freedom;
  for (const workload_result& w : e.workloads) {
    if (!w.hidden && w.samples.size() > 1)
      freedom = std::min(freedom, static_cast<double>(location_batches(w.samples.size()) - 1));
  }
  const log_estimate figure = logarithm({e.speedup, e.speedup_interval});
  return 0.5 * (figure.down + figure.up) / student_t(interval_alpha(e), freedom);
}

/// Standard deviation, in log space, by which confirmations differ more than their intervals explain (the
/// method of moments of DerSimonian and Laird 1986, with equal weights): what a process adds to a time.
inline double between_confirmations(confirmations all) {
  const auto n = static_cast<double>(all.size());
  double mean = 0;
  for (const auto& one : all) mean += std::log(one->speedup) / n;
  double squares = 0;
  double within = 0;
  for (const auto& one : all) {
    const double deviation = std::log(one->speedup) - mean;
    const double error = standard_error(*one);
    squares += deviation * deviation / (n - 1);
    within += error * error / n;
  }
  return squares > within ? std::sqrt(squares - within) : 0;
}

}  // namespace detail

/// What several valid confirmations of one candidate say together. Times, speedups and intervals come from
/// the pairs of all; the interval is at least as wide as the mean of the single results allows, and wider
/// where they differ more than their intervals explain. Without pairs, the mean of the results. What is not a
/// figure (feedback, measures, context) is that of the last one; of one alone, everything. Confirmations on
/// another device, with another protocol or against another baseline than the last one are left out.
/// The interval misses as often as those of the confirmations say that they do (`interval_alpha_key`).
/// @param looks how many confirmations a candidate may get: each further one spends its part of that error
/// (alpha_of_look)
inline evaluation pooled(confirmations given, int looks) {
  const evaluation& last = *given.back();
  std::vector<std::shared_ptr<const evaluation>> all;
  for (const auto& one : given) {
    if (one->device == last.device && one->protocol == last.protocol && one->baseline == last.baseline)
      all.push_back(one);
  }
  evaluation sum = last;
  if (all.size() < 2) return sum;
  const auto count = static_cast<double>(all.size());
  const bool own_score = last.score != last.speedup;
  double score = 0;
  bool compared = true;
  for (const auto& one : all) {
    score += one->score / count;
    compared = compared && one->speedup > 0;
  }
  sum.score = score;
  if (!compared) return sum;

  const int number = static_cast<int>(all.size());
  double alpha = 0;
  for (const auto& one : all) alpha = std::max(alpha, detail::interval_alpha(*one));
  detail::log_estimate total = detail::mean_of_results(all);
  if (detail::have_pairs(all)) {
    const estimate pairs =
        detail::pool_pairs(sum, all, alpha_of_look(alpha, number, std::max(number, looks)));
    if (pairs.value > 0) {
      const detail::log_estimate from_pairs = detail::logarithm(pairs);
      total = {from_pairs.center, std::max(total.down, from_pairs.down), std::max(total.up, from_pairs.up)};
    }
  }
  const double spread =
      detail::normal_quantile(alpha) * detail::between_confirmations(all) / std::sqrt(count);
  sum.speedup = std::exp(total.center);
  sum.speedup_interval = {std::exp(total.center - std::hypot(total.down, spread)),
                          std::exp(total.center + std::hypot(total.up, spread))};
  if (!own_score) sum.score = sum.speedup;
  if (sum.sol_fraction > 0) {
    sum.sol_fraction = std::numeric_limits<double>::infinity();
    for (const auto& w : sum.workloads) {
      if (!w.hidden) sum.sol_fraction = std::min(sum.sol_fraction, w.sol_fraction);
    }
    if (!std::isfinite(sum.sol_fraction)) sum.sol_fraction = last.sol_fraction;
  }
  return sum;
}

}  // namespace kevo
