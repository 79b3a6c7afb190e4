#include "fitness/cuda/measure/time_workloads.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <span>

#include <fmt/format.h>

#include <kevo/error.hpp>
#include <kevo/evaluate/statistics.hpp>

#include "fitness/cuda/measure/both_times.hpp"
#include "fitness/cuda/measure/device_task.hpp"
#include "fitness/cuda/measure/minimum_times.hpp"
#include "fitness/timing/time_candidate.hpp"

namespace kevo::cuda {
namespace {

// Otherwise all pairs are of the same two processes. Standard deviation of the median of one kernel over
// fresh processes of an H200, calls admitted one by one: means of eight processes of a kernel of 4.8 us have
// one of 25 ns (docs/gpu.md). With 20 ns, 13 of 495 comparisons of a kernel with itself were called
// different, with 80 and 400 ns 4 of 430. With a cold cache one process of five takes a microsecond more for
// every kernel. With 110 and 550 ns, 7 of 990 and 3 of 399 were called different, all because the two clocks
// differed by 400 to 800 ns more in the candidate's process than in the baseline's
// (timed_pairs::doubtful_ns).
constexpr double warm_process_spread_ns = 110;
constexpr double cold_process_spread_ns = 550;
// Of programs in Python, whose calls are held. On an H200, calls of one program differed from process to
// process by 670 ns (standard deviation; 56 processes of six programs of 40 to 85 us), after the time of
// calls of nothing in the same process was subtracted, which differs by 960 ns. A baseline has one process,
// and a candidate one for each block.
constexpr double python_process_spread_ns = 800;
// The same of host times, as a share of the shorter one, where there are few blocks. On a virtual machine
// with an H200, the median host time of one process in eager mode was 130 to 310 us in blocks of one
// evaluation.
constexpr double host_spread_of_block = 0.15;

// The pairs of one workload, for `time_by_looks`.
struct cuda_sampler {
  pair_timer timer;
  bool host_counts = false;
  bool fresh = false;       // a confirmation
  std::size_t renewed = 0;  // processes, at so many pairs

  std::size_t workload() const { return timer.workload(); }
  int pairs_so_far() const { return static_cast<int>(timer.scored_pairs(host_counts).size()); }
  double other_s() const { return 0; }
  void select() {}
  std::optional<call_failure> sample() {
    const auto done = timer.pairs().size();
    // A confirmation draws processes anew, so that what they add is in the interval.
    if (fresh && done % timer.pairs_of_process() == 0 && done > renewed) {
      timer.renew();
      renewed = done;
    }
    return timer.block();
  }
};
using cuda_workload = timed_workload<cuda_sampler>;

// Which clock, and how fine it was where it was the trusted one alone.
void tell_clock(evaluation& e, const std::vector<cuda_workload>& timed) {
  if (timed.empty() || !timed.front().sampler.timer.by_intervals()) {
    const bool alone = std::any_of(timed.begin(), timed.end(),
                                   [](const auto& one) { return one.sampler.timer.trusted_clock_alone(); });
    e.context["clock"] =
        alone ? "events; where they disagreed with the trusted clock, which was often, the trusted clock"
              : "events, compared with the trusted clock";
    return;
  }
  double resolution = 0;
  double shortest = timed.front().sampler.timer.shortest_interval_ns();
  std::uint32_t calls = timed.front().sampler.timer.calls();
  for (const auto& [sampler, spent_s] : timed) {
    const auto& timer = sampler.timer;
    resolution = std::max(resolution, timer.resolution_ns());
    shortest = std::min(shortest, timer.shortest_interval_ns());
    calls = std::min(calls, timer.calls());
  }
  e.context["clock"] = std::string("the trusted clock: intervals of distinct calls minus those of ") +
                       (e.backend == "torch" ? "calls of nothing in the same process" : "an empty program");
  e.context["hosted_resolution_ns"] = fmt::format("{:.1f}", resolution);
  e.context["hosted_interval_ms"] = fmt::format("{:.3f}", 1e-6 * shortest);
  e.context["hosted_interval_calls"] = std::to_string(calls);
}

// The pairs of all workloads, as `estimate_all` wants them. A clock is not believed below its resolution.
std::vector<timed_pairs> device_pairs(const gpu_bench& bench, evaluation_state& p,
                                      const std::vector<cuda_workload>& timed,
                                      std::vector<std::vector<timing_pair>>& credible, bool fresh) {
  std::vector<timed_pairs> pairs;
  pairs.reserve(timed.size());
  credible.reserve(timed.size());
  p.too_short.clear();
  for (const auto& [sampler, spent_s] : timed) {
    const auto& timer = sampler.timer;
    const auto index = timer.workload();
    const bool cold = bench.subject().workloads[index].cache == "cold";
    p.resolution_ns[index] = timer.by_intervals() ? timer.resolution_ns() : 0;
    const double least_ns = resolutions_apart * p.resolution_ns[index];
    auto& raised = credible.emplace_back(timer.pairs());
    std::size_t below = 0;
    for (auto& pair : raised) {
      below += pair.candidate_ns < least_ns ? 1 : 0;
      pair = {std::max(pair.candidate_ns, least_ns), std::max(pair.baseline_ns, least_ns)};
    }
    const bool too_short = 2 * below > raised.size();
    if (too_short) p.too_short.push_back(index);
    const double spread = fresh                             ? 0
                          : is_python_task(bench.subject()) ? python_process_spread_ns
                          : cold                            ? cold_process_spread_ns
                                                            : warm_process_spread_ns;
    pairs.push_back({.workload = index,
                     .pairs = &raised,
                     .speed_of_light_ns = bench.speed_of_light_ns(index),
                     .per_process = fresh ? timer.pairs_of_process() : 1,
                     .process_spread_ns = too_short ? std::hypot(spread, p.resolution_ns[index]) : spread,
                     .doubtful_ns = fresh ? 0 : timer.hidden_ns() + timer.further().added_ns(),
                     .comparator = {},
                     .batches = fresh ? nullptr : batches_of_pairs});
  }
  return pairs;
}

// The same of host times; empty where a workload has none.
std::vector<timed_pairs> host_pairs(const gpu_bench& bench, const std::vector<cuda_workload>& timed,
                                    std::vector<std::vector<timing_pair>>& kept, bool fresh) {
  std::vector<timed_pairs> pairs;
  kept.reserve(timed.size());
  for (const auto& [sampler, spent_s] : timed) {
    const auto& timer = sampler.timer;
    const auto& own = kept.emplace_back(timer.host_pairs());
    if (own.empty()) return {};
    // Of several blocks, each is one value: what a host adds stays the same within one.
    const std::size_t of_block = std::max<std::size_t>(timer.further().plan().host_pairs, 1);
    const bool several = own.size() >= 3 * of_block;
    std::vector<double> times;
    for (const auto& pair : own) times.push_back(std::min(pair.candidate_ns, pair.baseline_ns));
    pairs.push_back({.workload = timer.workload(),
                     .pairs = &own,
                     .speed_of_light_ns = bench.speed_of_light_ns(timer.workload()),
                     .per_process = several ? of_block : 1,
                     .process_spread_ns = several ? 0 : host_spread_of_block * median(times),
                     .comparator = {},
                     .batches = fresh ? nullptr : batches_of_pairs});
  }
  return pairs;
}

// Answers whether the interval is narrow enough to end.
bool look(const gpu_bench& bench, evaluation_state& p, const std::vector<cuda_workload>& timed, double alpha,
          bool fresh) {
  const auto& t = bench.subject();
  const auto& settings = bench.settings().timing;
  const double target = fresh ? settings.confirming_interval : settings.target_interval;
  const bool host_counts = bench.settings().host_time;
  std::vector<std::vector<timing_pair>> credible;
  std::vector<std::vector<timing_pair>> kept;
  const auto on_device = device_pairs(bench, p, timed, credible, fresh);
  const auto on_host = host_pairs(bench, timed, kept, fresh);
  const bool narrow = estimate_all(p.result, t, host_counts ? on_host : on_device, alpha, target);
  if (!on_host.empty()) {
    evaluation other = p.result;
    estimate_all(other, t, host_counts ? on_device : on_host, alpha, target);
    keep_both(p.result, other, host_counts);
  }
  for (const auto& [sampler, spent_s] : timed)
    p.result.workloads[sampler.workload()].samples = sampler.timer.scored_pairs(host_counts);
  return narrow;
}

// What the further readings showed, and what they added to the candidate's times.
void tell_added(evaluation& e, const std::vector<cuda_workload>& timed) {
  std::string busy;
  for (const auto& [sampler, spent_s] : timed) {
    const auto& timer = sampler.timer;
    if (const auto excess = timer.further().busy_excess())
      busy += fmt::format("{}{:.1f} us longer, the baseline's {:.1f} us", busy.empty() ? "" : "; ",
                          1e-3 * excess->candidate_ns, 1e-3 * excess->baseline_ns);
    if (const auto untold = timer.further().untold_blocks(); untold > 0)
      busy += fmt::format("{}{} blocks say nothing, because streams that wait kept the device",
                          busy.empty() ? "" : "; ", untold);
  }
  if (!busy.empty()) e.context["calls_on_a_busy_device"] = busy;
  double free_ns = 0;
  double uneven_ns = 0;
  for (const auto& [sampler, spent_s] : timed) {
    const auto& timer = sampler.timer;
    free_ns = std::max(free_ns, timer.further().free_ns());
    uneven_ns = std::max(uneven_ns, timer.further().uneven_ns());
  }
  if (free_ns > 0)
    e.context["work_before_calls"] =
        fmt::format("{:.1f} us of each call, done before its clock ran; added to its time", 1e-3 * free_ns);
  if (uneven_ns > 0)
    e.context["work_in_some_calls"] = fmt::format(
        "{:.1f} us of each call, done in some calls for all of them; added to its time", 1e-3 * uneven_ns);
}

// Pairs of one process count as one value, of which fewer than three have no interval.
timing_looks confirming_looks_of(const timing_settings& settings, const std::vector<cuda_workload>& timed) {
  auto looks = confirming_looks(settings, 0, 1);
  for (const auto& [sampler, spent_s] : timed) {
    const int fewest = fewest_pairs * static_cast<int>(sampler.timer.pairs_of_process());
    looks.first = looks.first_least = std::max(looks.first, fewest);
    looks.least = std::max(looks.least, fewest);
    looks.last = std::max(looks.last, fewest);
  }
  return looks;
}

std::vector<cuda_workload> workloads_of(gpu_bench& bench, const evaluation_state& p,
                                        program_runner& candidate, gpu_baseline& baseline, bool fresh) {
  std::vector<cuda_workload> timed;
  for (std::size_t i = 0; i < bench.subject().workloads.size(); ++i) {
    if (bench.subject().workloads[i].hidden) continue;
    timed.push_back({{.timer = bench.timer(candidate, baseline, i, p.call_ns[i]),
                      .host_counts = bench.settings().host_time,
                      .fresh = fresh}});
  }
  return timed;
}

// Contents came again, which a program might have remembered: it is not believed to have become faster.
void raise_sustained(evaluation& e) {
  for (auto& w : e.workloads) {
    if (w.sustained_ns > 0)
      w.sustained_ns = std::max(w.sustained_ns, w.device.ns > 0 ? w.device.ns : w.time_ns);
  }
}

}  // namespace

bool judge_times(const gpu_bench& bench, evaluation_state& p, program_kind kind) {
  std::string told;
  // What is impossible is so for the device.
  const bool two_times = p.result.device_speedup > 0;
  evaluation on_device = two_times ? by_device_times(p.result) : evaluation();
  evaluation& judged = two_times ? on_device : p.result;
  for (std::size_t i = 0; i < judged.workloads.size(); ++i) {
    const auto& w = judged.workloads[i];
    if (w.hidden || !(w.time_ns > 0)) continue;
    const bool below = std::find(p.too_short.begin(), p.too_short.end(), i) != p.too_short.end();
    if (below ||
        judge_time(w.time_ns, bench.minimum_ns(i, kind), p.resolution_ns[i]) == plausibility::too_short)
      told += (told.empty() ? "" : ", ") + w.uuid;
  }
  if (!told.empty()) p.result.context["too_short"] = told;
  const bool possible = all_possible(
      judged,
      [&](std::size_t i) { return bench.minimum_ns(i, kind) - resolutions_apart * p.resolution_ns[i]; },
      "device");
  if (!possible && two_times) {
    p.result.outcome = judged.outcome;
    p.result.reasons = judged.reasons;
    p.result.feedback = judged.feedback;
    for (std::size_t i = 0; i < judged.workloads.size(); ++i)
      p.result.workloads[i].outcome = judged.workloads[i].outcome;
  }
  return possible;
}

bool time_workloads(gpu_bench& bench, evaluation_state& p, program_runner& candidate, bool fresh) {
  auto& baseline = bench.baseline();
  auto& beside = bench.beside(candidate, baseline);
  if (fresh) {
    candidate.restart();
    beside.restart();
  }
  auto timed = workloads_of(bench, p, candidate, baseline, fresh);
  // Of all kinds: several may have begun after the previous candidate, which may have been of another kind.
  bench.settle_candidates();
  beside.workers().settle();
  const auto& budget = bench.settings().timing;
  const auto looks = fresh ? confirming_looks_of(budget, timed)
                           : first_looks(budget, p.request.wanted == evaluation_stage::timed_short);
  const auto look_at = [&](double alpha) { return look(bench, p, timed, alpha, fresh); };
  if (!time_by(looks, bench, p, std::span(timed), look_at)) return false;
  if (fresh && !time_alone(bench, p, std::span(timed))) return false;
  raise_sustained(p.result);
  int disagreements = 0;
  std::chrono::milliseconds rest{};
  for (const auto& [sampler, spent_s] : timed) {
    const auto& timer = sampler.timer;
    rest = std::max(rest, timer.rest());
    disagreements += timer.disagreements();
  }
  tell_discarded(p.result, std::span<const cuda_workload>(timed));
  if (disagreements > 0) p.result.context["clock_disagreements"] = std::to_string(disagreements);
  if (rest.count() > 0) p.result.context["rest_before_readings_ms"] = std::to_string(rest.count());
  tell_clock(p.result, timed);
  tell_added(p.result, timed);
  return true;
}

void time_other_baselines(gpu_bench& bench, evaluation_state& p, program_runner& candidate) {
  bench.prepare_later_baselines();
  if (auto names = bench.left_out(); !names.empty())
    p.result.context["baselines_left_out"] = std::move(names);
  for (std::size_t other = 1; other < bench.baselines().size(); ++other) {
    auto& baseline = bench.baselines()[other];
    // Of the same processes, some of which take long to start: what others might add is in the intervals.
    auto timed = workloads_of(bench, p, candidate, baseline, false);
    evaluation_state against = p;
    const auto look_at = [&](double alpha) { return look(bench, against, timed, alpha, false); };
    if (!time_by(further_looks(bench.settings().timing), bench, p, std::span(timed), look_at)) return;
    keep_other_speedup(p.result, baseline.name, against.result);
  }
}

}  // namespace kevo::cuda
