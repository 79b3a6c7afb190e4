#include "fitness/cpu/time_candidate.hpp"

#include <algorithm>
#include <chrono>
#include <span>

#include <fmt/format.h>

#include <kevo/error.hpp>

#include "fitness/cascade/cascade.hpp"
#include "fitness/cpu/paired.hpp"
#include "fitness/cpu/places.hpp"
#include "fitness/timing/time_candidate.hpp"
#include "fitness/timing/trusted_timeout.hpp"
#include "src/base/time/seconds_since.hpp"

namespace kevo {
namespace {

// The pairs of one workload, for `time_by_looks`.
struct cpu_sampler {
  paired_timer timer;
  test_bench* bench;
  evaluation_state* state;
  runner* candidate;
  trusted_program* placed_with = nullptr;  // a baseline; null: each has one place, where its build put it
  std::size_t places = 0;                  // so far
  double waited_s = 0;                     // for a quiet memory, and for linking

  std::size_t workload() const { return timer.workload(); }
  int pairs_so_far() const { return static_cast<int>(timer.pairs().size()); }
  double other_s() const { return waited_s + timer.drawing_s(); }
  void select() { timer.select(); }
  std::optional<call_failure> sample() {
    const auto start = std::chrono::steady_clock::now();
    if (placed_with != nullptr) {
      const auto pair = static_cast<std::size_t>(pairs_so_far());
      const auto processes = static_cast<std::size_t>(timer.plan().candidate_processes);
      places = bench->place_for_pair(*candidate, *state->request.program, *placed_with, pair, processes,
                                     state->request.stop);
    }
    bench->await_quiet_memory();
    waited_s += seconds_since(start);
    const double drawing_s = timer.drawing_s();
    auto failure = timer.block();
    state->unchecked[timer.workload()] = timer.unchecked();
    if (const double drawn_s = timer.drawing_s() - drawing_s; drawn_s > 0)
      state->result.cost.parts_s["making of inputs"] += drawn_s;
    return failure;
  }
};
using cpu_workload = timed_workload<cpu_sampler>;

// What the pairs so far say goes into `e`. Answers whether the interval is narrow enough to end.
bool look(const test_bench& bench, const evaluation_state& p, evaluation& e,
          const std::vector<cpu_workload>& all, double alpha) {
  std::vector<timed_pairs> timed;
  timed.reserve(all.size());
  if (!p.comparators.empty()) alpha /= 2;  // the other half is spent on the comparators
  for (const auto& [sampler, spent_s] : all) {
    const auto& timer = sampler.timer;
    auto& one = timed.emplace_back();
    one.workload = timer.workload();
    one.pairs = &timer.pairs();
    one.independent = true;  // each is of its own processes, memory and places
    if (sampler.places > 0) {
      const auto processes = static_cast<std::size_t>(timer.plan().candidate_processes);
      one.placements = pairs_at_other_places(sampler.places, processes);
      e.workloads[timer.workload()].placements = sampler.places;
    }
    one.speed_of_light_ns = bench.speed_of_light_ns(timer.workload());
    if (timer.delivered()) one.signals_ns = bench.signals_ns();
    if (const auto found = p.comparators.find(timer.workload()); found != p.comparators.end())
      one.comparator = found->second;
  }
  const auto& settings = bench.settings().timing;
  const bool confirms = p.request.wanted == evaluation_stage::confirmed;
  return estimate_all(e, bench.subject(), timed, alpha,
                      confirms ? settings.confirming_interval : settings.target_interval);
}

paired_timer timer_for(test_bench& bench, evaluation_state& p, runner& candidate, std::size_t index,
                       bool fresh) {
  // Of a candidate that is far from the best, nothing depends on a few per cent, however slow it is.
  const double candidate_ns = p.hopeless ? 0 : p.call_ns[index];
  auto* const comparator = fresh ? nullptr : bench.comparator_for(index, candidate_ns);
  if (comparator == nullptr)
    return bench.plan_for(index, p.call_ns[index], candidate, p.hopeless, p.request.stop);
  const auto link = bench.comparator_speedup(index, bench.settings().timing.alpha / 2, p.request.stop);
  p.comparators[index] = link;
  auto& said = p.result.context["compared_indirectly"];
  said += fmt::format(
      "{}workload '{}' was timed against '{}', which is {:.3g} [{:.3g}, {:.3g}] times as fast as '{}'",
      said.empty() ? "" : "; ", bench.subject().workloads[index].uuid, comparator->name, link.value,
      link.range.low, link.range.high, p.result.baseline);
  return bench.plan_for(index, p.call_ns[index], candidate, *comparator, p.hopeless, p.request.stop);
}

// The calls that checked the candidate tell roughly how fast it is: the least time of several. Nothing is
// decided by that but how long it is timed.
bool is_hopeless(const test_bench& bench, const evaluation_state& p) {
  constexpr double far = 1.3;
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
void tell_clock(evaluation& e, const test_bench& bench, const std::vector<cpu_workload>& all) {
  const auto& workloads = bench.subject().workloads;
  bool delivered = false;
  std::string short_ones;
  for (const auto& [sampler, spent_s] : all) {
    const auto& timer = sampler.timer;
    delivered |= timer.delivered();
    if (!timer.too_short()) continue;
    short_ones += fmt::format("{}'{}' (under {:.0f} ns)", short_ones.empty() ? "" : ", ",
                              workloads[timer.workload()].uuid, timer.resolution_ns());
  }
  e.context["clock"] = "isolated calls";
  if (delivered) e.context["clock"] += "; times of small workloads include the delivery of their inputs";
  if (delivered && bench.signals_ns() > 0)
    e.context["clock"] +=
        fmt::format(", and their intervals begin lower by the {:.0f} ns of a call that may be no work",
                    bench.signals_ns());
  if (!short_ones.empty())
    e.context["too_short"] = "too short to measure, counted as the resolution of the clock: " + short_ones;
}

std::vector<cpu_workload> workloads_of(test_bench& bench, evaluation_state& p, runner& candidate,
                                       bool fresh) {
  std::vector<cpu_workload> all;
  const auto& workloads = bench.subject().workloads;
  for (std::size_t i = 0; i < workloads.size(); ++i) {
    if (workloads[i].hidden) continue;
    all.push_back({{.timer = timer_for(bench, p, candidate, i, fresh),
                    .bench = &bench,
                    .state = &p,
                    .candidate = &candidate,
                    .placed_with = fresh ? &bench.first_baseline() : nullptr}});
    all.back().sampler.timer.check_first(p.unchecked[i]);
  }
  return all;
}

// Answers false if the candidate failed.
bool time_by(const timing_looks& looks, const test_bench& bench, evaluation_state& p,
             std::vector<cpu_workload>& all) {
  return time_by(looks, bench, p, std::span(all),
                 [&](double alpha) { return look(bench, p, p.result, all, alpha); });
}

// That of the workload whose pairs take longest.
const pairing_plan& slowest_plan(const std::vector<cpu_workload>& all) {
  const auto faster = [](const cpu_workload& a, const cpu_workload& b) {
    return a.sampler.timer.plan().pair_ns < b.sampler.timer.plan().pair_ns;
  };
  return std::max_element(all.begin(), all.end(), faster)->sampler.timer.plan();
}

// Answers false if the candidate failed. What it finds is in the pairs, of which the intervals of `e` are
// made again.
bool use_up(const test_bench& bench, evaluation_state& p, evaluation& e, std::vector<cpu_workload>& all) {
  const double seconds = 3 * bench.settings().timing.full_s;
  std::string found;
  for (auto& [sampler, spent_s] : all) {
    auto& timer = sampler.timer;
    timer.select();
    const auto said = begun_again([&] { return timer.use_up(seconds); }, [] {});
    const auto& w = bench.subject().workloads[timer.workload()];
    if (const auto* failure = std::get_if<call_failure>(&said))
      return fail(p, timer.workload(), w, *failure), false;
    const auto& remark = std::get<std::string>(said);
    if (!remark.empty())
      found += fmt::format("{}workload '{}': {}", found.empty() ? "" : "; ", w.uuid, remark);
  }
  if (found.empty()) return true;
  e.context["prepared_work"] = found;
  look(bench, p, e, all, bench.settings().timing.alpha);
  return true;
}

// The programs of a confirmation, which have their code where their builds put it afterwards.
struct placed_programs {
  runner& candidate;
  runner& baseline;
  ~placed_programs() {
    for (auto* program : {&candidate, &baseline}) {
      if (!program->placements().empty()) program->place_at({});
    }
  }
};

}  // namespace

bool time_workloads(test_bench& bench, evaluation_state& p, runner& candidate, bool fresh) {
  const auto& budget = bench.settings().timing;
  if (fresh) bench.renew_memory();
  p.hopeless = !fresh && is_hopeless(bench, p);
  auto all = workloads_of(bench, p, candidate, fresh);
  if (p.hopeless) {
    if (!time_by(brief_looks(), bench, p, all)) return false;
    if (p.request.wanted > evaluation_stage::timed_short &&
        may_be_best(p.result, p.request, bench.settings().promising)) {
      // The checks took longer than it takes. What decided that it is timed in full is not used again.
      p.hopeless = false;
      p.comparators.clear();
      p.result.context.erase("compared_indirectly");
      all = workloads_of(bench, p, candidate, false);
    }
  }
  if (fresh) {
    const placed_programs until_timed{candidate, *bench.first_baseline().program};
    const auto& slowest = slowest_plan(all);
    if (!time_by(confirming_looks(budget, 1e-9 * slowest.pair_ns, slowest.candidate_processes), bench, p,
                 all))
      return false;
  } else if (!p.hopeless) {
    if (!time_by(first_looks(budget, p.request.wanted == evaluation_stage::timed_short), bench, p, all))
      return false;
  }
  if (fresh && !use_up(bench, p, p.result, all)) return false;
  if (fresh && !time_alone(bench, p, std::span(all))) return false;
  for (const auto& [sampler, spent_s] : all) p.spread_ns[sampler.workload()] = sampler.timer.spread_ns();
  tell_discarded(p.result, std::span<const cpu_workload>(all));
  tell_clock(p.result, bench, all);
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
    auto timer = bench.plan_for(i, bench.baseline_call_ns(i), candidate, true, p.request.stop);
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
    const placed_programs until_timed{candidate, *other.program};
    std::vector<cpu_workload> all;
    for (std::size_t i = 0; i < workloads.size(); ++i) {
      if (workloads[i].hidden) continue;
      all.push_back({{.timer = bench.plan_for(i, p.call_ns[i], candidate, other, false, p.request.stop),
                      .bench = &bench,
                      .state = &p,
                      .candidate = &candidate,
                      .placed_with = &other}});
    }
    evaluation against = p.result;
    const auto look_at = [&](double alpha) { return look(bench, p, against, all, alpha); };
    if (!time_by(further_looks(bench.settings().timing), bench, p, std::span(all), look_at)) return;
    if (!use_up(bench, p, against, all)) return;
    keep_other_speedup(p.result, other.name, against);
  }
}

}  // namespace kevo
