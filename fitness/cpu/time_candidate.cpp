#include "fitness/cpu/time_candidate.hpp"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include <kevo/error.hpp>

#include "fitness/cascade/cascade.hpp"
#include "fitness/cpu/error_budget.hpp"
#include "fitness/cpu/paired.hpp"
#include "src/base/time/seconds_since.hpp"

namespace kevo {
namespace {

// How many pairs there are at each look.
std::vector<int> planned_looks(const timing_budget& budget) {
  std::vector<int> looks = {std::max(budget.short_blocks, 3)};
  while (5 * looks.back() < 2 * budget.full_blocks) looks.push_back(5 * looks.back() / 2);
  if (budget.full_blocks > looks.back()) looks.push_back(budget.full_blocks);
  return looks;
}

// Of a candidate that is far from the best: its place is not worth more.
constexpr int pairs_of_hopeless = 4;

// A confirmation ends as soon as its interval is narrow.
std::vector<int> confirming_looks(const timing_budget& budget) {
  std::vector<int> looks;
  for (const int pairs : {10, 20}) {
    if (pairs < budget.full_blocks) looks.push_back(pairs);
  }
  looks.push_back(budget.full_blocks);
  return looks;
}

// Answers whether the interval is narrow enough to end.
bool look(const test_bench& bench, evaluation_state& p, std::vector<paired_timer>& timers, double alpha) {
  std::vector<timed_pairs> timed;
  timed.reserve(timers.size());
  if (!p.comparators.empty()) alpha /= 2;  // the other half is spent on the comparators
  for (const auto& timer : timers) {
    auto& one = timed.emplace_back();
    one.workload = timer.workload();
    one.pairs = &timer.pairs();
    one.independent = true;  // each is of its own processes, memory and places
    one.speed_of_light_ns = bench.speed_of_light_ns(timer.workload());
    if (const auto found = p.comparators.find(timer.workload()); found != p.comparators.end())
      one.comparator = found->second;
  }
  return estimate_all(p.result, bench.subject(), timed, alpha, bench.settings().timing.target_interval);
}

paired_timer timer_for(test_bench& bench, evaluation_state& p, runner& candidate, std::size_t index,
                       bool fresh) {
  auto* const comparator = fresh ? nullptr : bench.comparator_for(index, p.call_ns[index]);
  if (comparator == nullptr) return bench.plan_for(index, p.call_ns[index], candidate, p.hopeless);
  const auto link = bench.comparator_speedup(index, bench.settings().timing.alpha / 2, p.request.stop);
  p.comparators[index] = link;
  auto& said = p.result.context["compared_indirectly"];
  said += fmt::format(
      "{}workload '{}' was timed against '{}', which is {:.3g} [{:.3g}, {:.3g}] times as fast as '{}'",
      said.empty() ? "" : "; ", bench.subject().workloads[index].uuid, comparator->name, link.value,
      link.range.low, link.range.high, p.result.baseline);
  return bench.plan_for(index, p.call_ns[index], candidate, *comparator, p.hopeless);
}

// The calls that checked the candidate tell roughly how fast it is: the least time of several. Nothing is
// decided by that but how long it is timed.
bool is_hopeless(const test_bench& bench, const evaluation_state& p) {
  constexpr double far = 1.5;
  const auto& workloads = bench.subject().workloads;
  std::vector<weighted_estimate> parts;
  for (std::size_t i = 0; i < workloads.size(); ++i) {
    if (workloads[i].hidden) continue;
    const double ratio = p.call_ns[i] > 0 ? bench.baseline_call_ns(i) / p.call_ns[i] : 0;
    parts.push_back({{ratio, {ratio, ratio}}, workloads[i].weight});
  }
  const double roughly = geometric_mean(parts).value;
  return roughly > 0 && far * roughly < bench.settings().promising * p.request.best_speedup;
}

// What the times are, and which of them are too short.
void tell_clock(evaluation& e, const std::vector<workload>& workloads,
                const std::vector<paired_timer>& timers) {
  bool delivered = false;
  std::string short_ones;
  for (const auto& timer : timers) {
    delivered |= timer.delivered();
    if (!timer.too_short()) continue;
    short_ones += fmt::format("{}'{}' (under {:.0f} ns)", short_ones.empty() ? "" : ", ",
                              workloads[timer.workload()].uuid, timer.resolution_ns());
  }
  e.context["clock"] = "isolated calls";
  if (delivered) e.context["clock"] += "; times of small workloads include the delivery of their inputs";
  if (!short_ones.empty())
    e.context["too_short"] = "too short to measure, counted as the resolution of the clock: " + short_ones;
}

}  // namespace

void fail(evaluation_state& p, std::size_t index, const workload& w, const call_failure& failure) {
  p.machine = failure.machine;
  tell_failure(p.result, index, w, failure);
}

bool time_workloads(test_bench& bench, evaluation_state& p, runner& candidate, bool fresh) {
  const auto& budget = bench.settings().timing;
  const auto& workloads = bench.subject().workloads;
  if (fresh) bench.renew_memory();
  std::vector<std::size_t> visible;
  for (std::size_t i = 0; i < workloads.size(); ++i) {
    if (!workloads[i].hidden) visible.push_back(i);
  }
  std::vector<paired_timer> timers;
  // [s] spent on each workload so far
  std::vector<double> spent(visible.size(), 0);
  const auto run_until = [&](std::size_t which, int blocks, int least, double seconds) {
    auto& timer = timers[which];
    timer.select();
    while (static_cast<int>(timer.pairs().size()) < blocks) {
      if (spent[which] > seconds && static_cast<int>(timer.pairs().size()) >= least) break;
      if (p.request.stop.stop_requested()) throw error(error_code::interrupted, "the evaluation was stopped");
      bench.await_quiet_memory();
      const auto start = std::chrono::steady_clock::now();
      if (auto failure = timer.block()) {
        fail(p, timer.workload(), workloads[timer.workload()], *failure);
        return false;
      }
      spent[which] += seconds_since(start);
    }
    return true;
  };
  p.hopeless = !fresh && is_hopeless(bench, p);
  for (const auto index : visible) timers.push_back(timer_for(bench, p, candidate, index, fresh));
  const auto plan = fresh        ? confirming_looks(budget)
                    : p.hopeless ? std::vector<int>{pairs_of_hopeless}
                                 : planned_looks(budget);
  const int looks = static_cast<int>(plan.size());
  error_budget errors(budget.alpha, plan.back());
  for (int number = 1; number <= looks; ++number) {
    // Fewer pairs than these decide next to nothing, however short the time is. A confirmation has longer.
    const int least = fresh ? 8 : number == 1 ? 4 : 6;
    const double seconds = fresh ? 3 * budget.full_s : number == 1 ? budget.short_s : budget.full_s;
    for (std::size_t i = 0; i < timers.size(); ++i) {
      if (!run_until(i, plan[static_cast<std::size_t>(number) - 1], least, seconds)) return false;
    }
    const auto over = [&](double s) { return s > (fresh ? seconds : budget.full_s); };
    const bool late = (fresh || number > 1) && std::all_of(spent.begin(), spent.end(), over);
    const bool last = late || number == looks || p.request.wanted == evaluation_stage::timed_short;
    const bool narrow = look(bench, p, timers, errors.next(plan[static_cast<std::size_t>(number) - 1], last));
    p.result.stage = number == 1 && !fresh ? evaluation_stage::timed_short
                     : fresh               ? evaluation_stage::confirmed
                                           : evaluation_stage::timed_full;
    if (p.request.wanted == evaluation_stage::timed_short) break;
    // Further looks are for those that may still be the best.
    if (!fresh && p.result.speedup_interval.high < bench.settings().promising * p.request.best_speedup) break;
    if ((fresh || number > 1) && (narrow || late)) break;
  }
  if (fresh && budget.sustained_s > 0) {
    for (auto& timer : timers) {
      timer.select();
      const auto time = timer.sustained(budget.sustained_s);
      if (const auto* failure = std::get_if<call_failure>(&time)) {
        fail(p, timer.workload(), workloads[timer.workload()], *failure);
        return false;
      }
      p.result.workloads[timer.workload()].sustained_ns = std::get<double>(time);
    }
  }
  for (const auto& timer : timers) p.spread_ns[timer.workload()] = timer.spread_ns();
  tell_clock(p.result, workloads, timers);
  return true;
}

// A program that was built to the same bytes as the baseline was checked with it, and its speedup is 1
// whatever the machine does. It is run once, for its times.
bool time_baseline_itself(test_bench& bench, evaluation_state& p, runner& candidate) {
  const auto& workloads = bench.subject().workloads;
  for (std::size_t i = 0; i < workloads.size(); ++i) {
    auto& w = p.result.workloads[i];
    w.outcome = outcome::valid;
    if (workloads[i].hidden) continue;
    auto timer = bench.plan_for(i, bench.baseline_call_ns(i), candidate, true);
    timer.select();
    if (const auto failure = timer.block()) return fail(p, i, workloads[i], *failure), false;
    w.samples = timer.pairs();
    w.time_ns = w.baseline_ns = w.samples.front().candidate_ns;
    w.speedup = 1;
    w.sol_fraction = w.time_ns > 0 ? bench.speed_of_light_ns(i) / w.time_ns : 0;
  }
  p.result.outcome = outcome::valid;
  p.result.stage = p.request.wanted;
  p.result.speedup = 1;
  p.result.speedup_interval = {1, 1};
  p.result.context["clock"] = "the speedup of the baseline's own program is 1";
  return true;
}

void time_other_baselines(test_bench& bench, evaluation_state& p, runner& candidate) {
  const auto& workloads = bench.subject().workloads;
  for (auto& other : bench.other_baselines()) {
    std::vector<weighted_estimate> parts;
    for (std::size_t i = 0; i < workloads.size(); ++i) {
      if (workloads[i].hidden) continue;
      auto timer = bench.plan_for(i, p.call_ns[i], candidate, other);
      timer.select();
      for (int block = 0; block < 3; ++block) {
        if (auto failure = timer.block()) return fail(p, i, workloads[i], *failure);
      }
      parts.push_back({speedup_of(timer.pairs(), 0.05), workloads[i].weight});
    }
    p.result.other_speedups[other.name] = geometric_mean(parts).value;
  }
}

}  // namespace kevo
