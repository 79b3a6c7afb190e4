#include "fitness/cascade/cascade.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include <kevo/error.hpp>
#include <kevo/evaluate/statistics.hpp>
#include <kevo/task_extents.hpp>

#include "fitness/cascade/feedback.hpp"
#include "fitness/cascade/signed_rank.hpp"

namespace kevo {

double cost_of(const task& t, const std::optional<expression>& formula, std::size_t workload) {
  if (!formula) return 0;
  const auto axes = axis_values(t, t.workloads[workload]);
  return static_cast<double>(formula->evaluate([&](std::string_view name) -> std::optional<std::int64_t> {
    const auto it = axes.find(std::string(name));
    return it == axes.end() ? std::nullopt : std::optional(it->second);
  }));
}

std::vector<workload_result> blank_results(const task& t) {
  std::vector<workload_result> results;
  for (const auto& w : t.workloads) {
    auto& result = results.emplace_back();
    result.uuid = w.uuid;
    result.axes = w.axes;
    result.hidden = w.hidden;
    result.weight = w.weight;
  }
  return results;
}

void tell_failure(evaluation& e, std::size_t index, const workload& w, const call_failure& failure) {
  e.outcome = failure.outcome;
  e.workloads[index].outcome = failure.outcome;
  if (w.hidden) {
    e.feedback = hidden_failure_text(failure.outcome);
    e.reasons.push_back(e.feedback);
    return;
  }
  e.reasons.push_back(failure.reason);
  e.feedback = fmt::format("workload {}: {}", w.uuid, failure.reason);
  if (!failure.detail.empty()) e.feedback += ": " + failure.detail;
}

void fail(cascade_state& p, std::size_t index, const workload& w, const call_failure& failure) {
  p.machine = failure.machine;
  p.again = failure.again;
  tell_failure(p.result, index, w, failure);
}

void tell_build_failure(evaluation& e, std::vector<std::string> reasons, std::string feedback) {
  e.outcome = outcome::build_failed;
  e.feedback = feedback.empty() ? reasons.front() : std::move(feedback);
  e.reasons = std::move(reasons);
}

std::string why_unbuildable(const program& source, std::size_t most_bytes) {
  if (source.files.empty()) return "the program contains no file";
  std::size_t size = 0;
  for (const auto& file : source.files) size += file.text.size();
  return size > most_bytes ? "the source is too large" : "";
}

error baseline_error(const task& t, const std::string& name, const workload& w, const call_failure& failure) {
  return {failure.machine ? error_code::environment : error_code::input,
          fmt::format("baseline '{}' fails on workload '{}': {} {}", name, w.uuid, failure.reason,
                      failure.detail),
          {.file = t.file, .key = "baselines"}};
}

void require_baseline(const task& t, bool built) {
  if (built) return;
  throw error(error_code::input, "no baseline builds on this machine", {.file = t.file, .key = {}},
              "install the libraries that the baselines link with, or add a baseline that needs none");
}

namespace {

// The geometric mean of those pairs.
timing_pair mean_of(const std::vector<timing_pair>& pairs, std::size_t first, std::size_t end,
                    std::size_t step) {
  double candidate = 0;
  double baseline = 0;
  double count = 0;
  for (auto i = first; i < end; i += step, ++count) {
    candidate += std::log(pairs[i].candidate_ns);
    baseline += std::log(pairs[i].baseline_ns);
  }
  return {std::exp(candidate / count), std::exp(baseline / count)};
}

// The means of pairs that are of the same processes, or have their code at the same places.
std::vector<timing_pair> independent_pairs(const timed_pairs& one) {
  const auto& pairs = *one.pairs;
  std::vector<timing_pair> means;
  if (one.placements > 0) {
    for (std::size_t i = 0; i < std::min(one.placements, pairs.size()); ++i)
      means.push_back(mean_of(pairs, i, pairs.size(), one.placements));
    return means;
  }
  for (std::size_t i = 0; i < pairs.size(); i += one.per_process)
    means.push_back(mean_of(pairs, i, std::min(pairs.size(), i + one.per_process), 1));
  return means;
}

// Twice the standard deviation in quadrature, of a ratio of two times.
void widen(estimate& speedup, double share) {
  const double center = std::log(speedup.value);
  const double down = std::hypot(center - std::log(speedup.range.low), 2 * share);
  const double up = std::hypot(std::log(speedup.range.high) - center, 2 * share);
  speedup.range = {std::exp(center - down), std::exp(center + up)};
}

// The product of two independent estimates: half widths add in quadrature in log space, as in geometric_mean.
estimate chained(const estimate& a, const estimate& b) {
  const auto width = [](double value, double end) { return end > 0 ? std::log(value / end) : 1e3; };
  const double value = a.value * b.value;
  if (!(value > 0)) return {};
  const double down = std::hypot(width(a.value, a.range.low), width(b.value, b.range.low));
  const double up = std::hypot(width(a.value, a.range.high), width(b.value, b.range.high));
  return {value, {value * std::exp(-down), value * std::exp(up)}};
}

}  // namespace

bool estimate_all(evaluation& e, const task& t, const std::vector<timed_pairs>& timed, double alpha,
                  double target) {
  std::vector<weighted_estimate> parts;
  std::vector<weighted_estimate> measured;  // without what further pairs do not tell
  for (const auto& one : timed) {
    auto& w = e.workloads[one.workload];
    const auto independent = independent_pairs(one);
    std::vector<double> ratios;
    std::vector<double> times;
    std::vector<double> baseline_times;
    for (const auto& pair : independent) {
      ratios.push_back(pair.baseline_ns / pair.candidate_ns);
      times.push_back(pair.candidate_ns);
      baseline_times.push_back(pair.baseline_ns);
    }
    const std::size_t batches = one.batches != nullptr ? one.batches(independent.size()) : 0;
    auto speedup =
        one.independent ? positive_signed_rank(ratios, alpha) : positive_location(ratios, alpha, batches);
    const auto time = positive_location(times, alpha, batches);
    const double baseline_time = positive_location(baseline_times, alpha, batches).value;
    if (one.process_spread_ns > 0 && time.value > 0 && speedup.range.low > 0)
      widen(speedup, one.process_spread_ns * std::hypot(1 / time.value, 1 / baseline_time));
    if (one.doubtful_ns > 0 && one.doubtful_ns < time.value)
      speedup.range.high *= time.value / (time.value - one.doubtful_ns);
    double scale = 1;
    if (one.comparator) {
      speedup = chained(speedup, *one.comparator);
      scale = one.comparator->value;
    }
    measured.push_back({speedup, t.workloads[one.workload].weight});
    if (one.signals_ns > 0 && time.value > 0) speedup.range.low *= time.value / (time.value + one.signals_ns);
    w.samples = *one.pairs;
    for (auto& pair : w.samples) pair.baseline_ns *= scale;
    w.speedup = speedup.value;
    w.time_ns = time.value;
    w.time_interval = time.range;
    w.baseline_ns = scale * baseline_time;
    w.sol_fraction = w.time_ns > 0 ? one.speed_of_light_ns / w.time_ns : 0;
    parts.push_back({speedup, t.workloads[one.workload].weight});
  }
  const auto mean = geometric_mean(parts);
  e.speedup = mean.value;
  e.speedup_interval = mean.range;
  e.context[interval_alpha_key] = fmt::format("{:.6g}", alpha);
  const auto reached = geometric_mean(measured);
  return reached.range.high - reached.range.low < target * reached.value;
}

bool has_intervals(const evaluation& e) {
  const auto endless = [](const interval& range) { return range.low <= 0 && std::isinf(range.high); };
  const bool two_times = e.device_speedup > 0;
  return !endless(e.speedup_interval) && !(two_times && endless(e.device_speedup_interval)) &&
         !(two_times && endless(e.host_speedup_interval));
}

void keep_other_speedup(evaluation& e, const std::string& name, const evaluation& against) {
  if (has_intervals(against)) {
    e.other_speedups[name] = against.speedup;
    e.other_speedup_intervals[name] = against.speedup_interval;
    return;
  }
  auto& said = e.context["baselines_left_out"];
  said += (said.empty() ? "" : "; ") + name + " (too few pairs of readings for an interval)";
}

void tell_wait(evaluation& e, const measuring_lock& lock) {
  constexpr double noticeable_s = 1;
  e.cost.waited_s += lock.waited_s();
  if (lock.waited_s() < noticeable_s || !lock.waited_for()) return;
  e.context["waited"] = fmt::format("{:.1f} s for {}", lock.waited_s(), to_string(*lock.waited_for()));
}

void tell_discarded(evaluation& e, std::size_t discarded, std::size_t kept) {
  if (discarded > 0) e.context["discarded_pairs"] = std::to_string(discarded);
  if (10 * discarded > kept) e.context["timing"] = "uncertain: many timing pairs were discarded";
}

bool all_possible(evaluation& e, const std::function<double(std::size_t)>& minimum_ns,
                  const std::string& device) {
  for (std::size_t i = 0; i < e.workloads.size(); ++i) {
    auto& w = e.workloads[i];
    if (w.hidden || !(w.time_ns > 0) || w.time_ns >= minimum_ns(i)) continue;
    w.outcome = e.outcome = outcome::suspect;
    e.reasons.push_back("faster than is possible on this " + device);
    e.feedback = fmt::format(
        "workload {0}: the measured time {1} is below {3}, the minimum time that the work of the task takes "
        "on this {2}",
        w.uuid, time_text(w.time_ns), device, time_text(minimum_ns(i)));
    return false;
  }
  return true;
}

void require_order(const std::optional<call_failure>& canary, const std::string& device) {
  if (!canary) return;
  throw error(error_code::environment,
              fmt::format("a program that is known to be correct fails as well ({} "
                          "{}), so the fault is in the {}, not in the candidate",
                          canary->reason, canary->detail, device),
              {}, "run `kevo doctor`, then continue with `kevo resume`");
}

void conclude(evaluation& e) {
  if (!e.valid()) {
    e.speedup = 0;
    e.speedup_interval = {};
    e.device_speedup = e.host_speedup = 0;
    e.device_speedup_interval = e.host_speedup_interval = {};
    e.other_speedups.clear();
    e.other_speedup_intervals.clear();
    if (e.outcome == outcome::unchecked) e.feedback = "it compiles; neither checked nor timed";
  } else {
    e.feedback = feedback_of_valid(e);
    double sol = 1e300;
    for (const auto& w : e.workloads) {
      if (!w.hidden) sol = std::min(sol, w.sol_fraction);
    }
    e.sol_fraction = sol < 1e300 ? sol : 0;
  }
  e.score = e.speedup;
}

bool may_be_best(const evaluation& e, const evaluation_request& request, double promising) {
  return e.speedup_interval.high >= promising * request.best_speedup;
}

bool is_enough(const evaluation& found, const evaluation_request& request, double promising) {
  return found.failed() || found.stage >= request.wanted ||
         (found.stage == evaluation_stage::timed_short && !may_be_best(found, request, promising));
}

content_id result_key(const std::string& backend, const std::string& protocol, const program& candidate,
                      const std::string& identity) {
  content_hasher hash;
  hash.text("kevo " + backend + " result 1").text(protocol).text(to_string(id_of(candidate))).text(identity);
  return hash.finish();
}

}  // namespace kevo
