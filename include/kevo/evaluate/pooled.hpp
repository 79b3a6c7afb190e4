#pragma once
// Pools several confirmations of one candidate into one evaluation: it uses the timing pairs of all of them,
// and its interval includes the variation between confirmations. A pure function of the evaluations, so that
// a replay repeats it exactly.

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

/// An estimate in log space: its value, and the distances from it to the lower and upper end of its interval.
struct log_estimate {
  double center = 0;
  double down = 0;
  double up = 0;
};

/// The estimate in log space; a distance is infinite if that end of the interval is unknown.
inline log_estimate logarithm(const estimate& e) {
  const double center = std::log(e.value);
  const double infinity = std::numeric_limits<double>::infinity();
  const double down = e.range.low > 0 ? center - std::log(e.range.low) : infinity;
  const double up = std::isfinite(e.range.high) ? std::log(e.range.high) - center : infinity;
  return {center, std::max(0.0, down), std::max(0.0, up)};
}

/// The pairs of one workload from all confirmations, in time order.
inline std::vector<timing_pair> pairs_of(confirmations all, std::size_t workload) {
  std::vector<timing_pair> pairs;
  for (const auto& one : all) {
    for (const timing_pair& pair : one->workloads[workload].samples) pairs.push_back(pair);
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

/// Sets times and speedup of each visible workload of `sum` from the pairs of all confirmations. Returns the
/// speedup over all visible workloads.
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
    w.sol_fraction = w.sol_fraction * w.time_ns / time.value;  // the limit is the same, the time has changed
    w.time_ns = time.value;
    w.time_interval = time.range;
    w.baseline_ns = positive_location(baseline_times, alpha).value;
    parts.push_back({ratio, w.weight});
  }
  return geometric_mean(parts);
}

/// The mean, in log space, of the speedups of the single confirmations, weighted by the inverse square of the
/// half widths of their intervals. Speedups whose interval has an unknown end are left out, unless that holds
/// for all of them.
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

/// The probability alpha that the interval of an evaluation does not contain the true value, as stated in its
/// context (`interval_alpha_key`); 0.05 if it is not stated.
inline double interval_alpha(const evaluation& e) {
  double alpha = 0.05;
  if (const auto said = e.context.find(interval_alpha_key); said != e.context.end()) {
    double given = 0;
    const char* const end = said->second.data() + said->second.size();
    if (std::from_chars(said->second.data(), end, given).ptr == end && given > 0 && given < 1) alpha = given;
  }
  return alpha;
}

/// With this many degrees of freedom, the quantiles of Student's t distribution equal those of the normal
/// distribution to about 1e-4 of their value.
inline constexpr double many_degrees_of_freedom = 10000;

/// The two-sided quantile of the standard normal distribution: the x with P(|X| > x) = alpha.
inline double normal_quantile(double alpha) {
  return student_t(alpha, many_degrees_of_freedom);
}

/// The standard error of a speedup, in log space: half the width of its interval, divided by the quantile
/// with which the interval was made. Without pairs, this is the quantile of the normal distribution.
inline double standard_error(const evaluation& e) {
  double freedom = many_degrees_of_freedom;
  for (const workload_result& w : e.workloads) {
    if (!w.hidden && w.samples.size() > 1)
      freedom = std::min(freedom, static_cast<double>(location_batches(w.samples.size()) - 1));
  }
  const log_estimate figure = logarithm({e.speedup, e.speedup_interval});
  return 0.5 * (figure.down + figure.up) / student_t(interval_alpha(e), freedom);
}

/// The standard deviation between confirmations, in log space, that their intervals do not explain (method of
/// moments of DerSimonian and Laird 1986, with equal weights). It is caused by conditions that stay the same
/// within a process but differ between processes. Needs at least two confirmations.
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

/// Pools the speedups by one of two times, for which evaluations keep no pairs: their mean in log space, with
/// an interval as wide as that of this mean and as the differences between confirmations make it. Nothing
/// changes unless every confirmation has such a speedup.
inline void pool_by_time(evaluation& sum, confirmations all, double alpha, double evaluation::*speedup,
                         interval evaluation::*range) {
  std::vector<std::shared_ptr<const evaluation>> by_time;
  for (const auto& one : all) {
    if (!((*one).*speedup > 0)) return;
    auto figure = std::make_shared<evaluation>();
    figure->speedup = (*one).*speedup;
    figure->speedup_interval = (*one).*range;
    figure->context = one->context;
    by_time.push_back(std::move(figure));
  }
  const log_estimate total = mean_of_results(by_time);
  const double spread = normal_quantile(alpha) * between_confirmations(by_time) /
                        std::sqrt(static_cast<double>(by_time.size()));
  sum.*speedup = std::exp(total.center);
  sum.*range = {std::exp(total.center - std::hypot(total.down, spread)),
                std::exp(total.center + std::hypot(total.up, spread))};
}

/// Where two times were measured: both speedups, of which the one that counts has been pooled already.
inline void pool_both_times(evaluation& sum, confirmations all, double alpha) {
  const auto which = sum.context.find("time");
  if (which == sum.context.end() || !(sum.device_speedup > 0)) return;
  const bool host = which->second == "host";
  (host ? sum.host_speedup : sum.device_speedup) = sum.speedup;
  (host ? sum.host_speedup_interval : sum.device_speedup_interval) = sum.speedup_interval;
  if (host) {
    pool_by_time(sum, all, alpha, &evaluation::device_speedup, &evaluation::device_speedup_interval);
  } else {
    pool_by_time(sum, all, alpha, &evaluation::host_speedup, &evaluation::host_speedup_interval);
  }
  for (auto& w : sum.workloads) {
    auto& time = host ? w.host : w.device;
    if (time.ns > 0)
      time = {.ns = w.time_ns, .range = w.time_interval, .baseline_ns = w.baseline_ns, .speedup = w.speedup};
  }
}

}  // namespace detail

/// Pools several valid confirmations of one candidate; there must be at least one. Confirmations with another
/// device, protocol or baseline than the last one are left out. If only one remains, the last one is returned
/// unchanged.
///
/// Times, speedups and intervals are computed from the timing pairs of all confirmations; without pairs, the
/// speedup is the weighted mean of the single speedups. The interval is at least as wide as that of this
/// mean, and wider if the confirmations differ more than their intervals explain. Its error probability is
/// the largest one that the confirmations state (`interval_alpha_key`). Everything else (feedback, measures,
/// context, ...) is taken from the last confirmation.
/// @param looks largest number of confirmations that a candidate may get; the error probability is divided
/// among them (alpha_of_look)
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
  detail::pool_both_times(sum, all, alpha);
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
