#include "fitness/cpu/cpu_fitness.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <mutex>

#include <fmt/format.h>

#include <kevo/error.hpp>
#include <kevo/evaluate/statistics.hpp>

#include "fitness/cascade/cascade.hpp"
#include "fitness/cascade/result_cache.hpp"
#include "fitness/cpu/bench.hpp"
#include "fitness/cpu/paired.hpp"
#include "fitness/machine/neighbours.hpp"
#include "fitness/oracle/signature.hpp"
#include "fitness/sandbox/sandbox.hpp"
#include "src/base/time/seconds_since.hpp"

namespace kevo {
namespace {

using std::chrono::nanoseconds;

// One evaluation on its way through the cascade.
struct passage {
  const evaluation_request& request;
  evaluation result;
  build_result built;
  std::vector<double> call_ns;                       // of one call of each workload; 0 if unknown
  bool machine = false;                              // the failure may be the machine's
  std::map<std::size_t, estimate> comparators = {};  // of the workloads that are compared indirectly
  bool hopeless = false;                             // far slower than the best program
};

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

void tell_parts(evaluation_cost& cost, const runner_times& candidate, const runner_times& trusted) {
  auto both = candidate;
  both += trusted;
  cost.parts_s["start of processes"] += both.start_s;
  cost.parts_s["calls of the candidate"] += candidate.calls_s;
  cost.parts_s["calls of the baselines"] += trusted.calls_s;
  cost.parts_s["preparation of calls"] += both.around_s;
  cost.parts_s["comparison of outputs"] += both.compare_s;
}

void fail(passage& p, std::size_t index, const workload& w, const call_failure& failure) {
  p.machine = failure.machine;
  tell_failure(p.result, index, w, failure);
}

}  // namespace

struct cpu_fitness::state {
  state(std::shared_ptr<const task> t, cpu_settings s, std::shared_ptr<const program_kind> kind)
      : bench(std::move(t), std::move(s), std::move(kind)),
        results(bench.settings().cache_dir.empty() ? result_cache()
                                                   : result_cache(bench.settings().cache_dir + "/results")) {}

  test_bench bench;
  result_cache results;

  // Gates, cheapest first; each answers whether the candidate may go on.
  bool check_source(passage& p) const;
  bool build(passage& p);
  bool check_smallest(passage& p, runner& candidate);
  bool check_all(passage& p, runner& candidate);
  bool time_workloads(passage& p, runner& candidate, bool fresh);
  // The same as these for the baseline's own program.
  bool time_baseline_itself(passage& p, runner& candidate);

  bool check_workload(passage& p, runner& candidate, std::size_t index, std::size_t from, std::size_t count);
  paired_timer timer_for(passage& p, runner& candidate, std::size_t index, bool fresh);
  bool is_hopeless(const passage& p) const;
  bool look(passage& p, std::vector<paired_timer>& timers, double alpha) const;
  void time_other_baselines(passage& p, runner& candidate);
  void run_cascade(passage& p);
  content_id key_of(const program& candidate) const;
  std::optional<evaluation> cached(const evaluation_request& request) const;
  void finish(passage& p, std::chrono::steady_clock::time_point start);
};

bool cpu_fitness::state::check_source(passage& p) const {
  const auto& source = *p.request.program;
  const auto refuse = [&](const std::string& why) {
    p.result.outcome = outcome::build_failed;
    p.result.reasons.push_back(why);
    p.result.feedback = why;
    return false;
  };
  if (const auto why = bench.kind().refusal(source); !why.empty()) return refuse(why);
  if (source.files.empty()) return refuse("the program contains no file");
  std::size_t size = 0;
  for (const auto& file : source.files) size += file.text.size();
  if (size > bench.settings().limits.source_bytes) return refuse("the source is too large");
  return true;
}

bool cpu_fitness::state::build(passage& p) {
  const auto start = std::chrono::steady_clock::now();
  p.built = bench.build_candidate(*p.request.program, p.request.stop);
  p.result.cost.parts_s["compile"] += seconds_since(start);
  if (p.built.ok) {
    if (bench.is_baseline(p.built)) p.result.context["identical_to"] = p.result.baseline;
    return true;
  }
  p.result.outcome = outcome::build_failed;
  p.result.reasons = p.built.reasons;
  if (p.result.reasons.empty()) p.result.reasons.emplace_back("does not compile");
  p.result.feedback = p.built.diagnostics.empty() ? p.result.reasons.front() : p.built.diagnostics;
  return false;
}

bool cpu_fitness::state::check_workload(passage& p, runner& candidate, std::size_t index, std::size_t from,
                                        std::size_t count) {
  const auto& w = bench.subject().workloads[index];
  const auto contents = bench.contents_to_check(index);
  candidate.select(index);
  for (std::size_t i = from; i < std::min(from + count, contents.size()); ++i) {
    const auto time = candidate.isolated(contents[i], bench.call_limit(index));
    if (time.failure) return fail(p, index, w, *time.failure), false;
    auto& known = p.call_ns[index];
    known = known > 0 ? std::min(known, time.whole_ns) : time.whole_ns;
  }
  return true;
}

bool cpu_fitness::state::check_smallest(passage& p, runner& candidate) {
  return check_workload(p, candidate, bench.smallest_visible(), 0, 1);
}

bool cpu_fitness::state::check_all(passage& p, runner& candidate) {
  const auto& workloads = bench.subject().workloads;
  constexpr std::size_t all = 1000;
  const auto check = [&](std::size_t i) {
    const std::size_t from = i == bench.smallest_visible() ? 1 : 0;
    if (!check_workload(p, candidate, i, from, all)) return false;
    p.result.workloads[i].outcome = outcome::valid;
    return true;
  };
  for (std::size_t i = 0; i < workloads.size(); ++i) {
    if (!workloads[i].hidden && !check(i)) return false;
  }
  // Operators read what a process says on a visible workload, so none that has seen a hidden one is asked
  // again: each begins in a process of its own, and the last of them is ended.
  for (std::size_t i = 0; i < workloads.size(); ++i) {
    if (!workloads[i].hidden) continue;
    candidate.restart_for_one();
    if (!check(i)) return false;
  }
  candidate.restart();
  p.result.outcome = outcome::valid;
  p.result.stage = evaluation_stage::checked;
  return true;
}

// Answers whether the interval is narrow enough to end.
bool cpu_fitness::state::look(passage& p, std::vector<paired_timer>& timers, double alpha) const {
  std::vector<timed_pairs> timed;
  timed.reserve(timers.size());
  if (!p.comparators.empty()) alpha /= 2;  // the other half is spent on the comparators
  for (const auto& timer : timers) {
    auto& one = timed.emplace_back();
    one.workload = timer.workload();
    one.pairs = &timer.pairs();
    one.speed_of_light_ns = bench.speed_of_light_ns(timer.workload());
    if (const auto found = p.comparators.find(timer.workload()); found != p.comparators.end())
      one.comparator = found->second;
  }
  return estimate_all(p.result, bench.subject(), timed, alpha, bench.settings().timing.target_interval);
}

paired_timer cpu_fitness::state::timer_for(passage& p, runner& candidate, std::size_t index, bool fresh) {
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
bool cpu_fitness::state::is_hopeless(const passage& p) const {
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

bool cpu_fitness::state::time_workloads(passage& p, runner& candidate, bool fresh) {
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
      const auto start = std::chrono::steady_clock::now();
      if (auto failure = timer.block()) {
        fail(p, timer.workload(), workloads[timer.workload()], *failure);
        return false;
      }
      spent[which] += seconds_since(start);
    }
    return true;
  };
  p.hopeless = !fresh && is_hopeless(p);
  for (const auto index : visible) timers.push_back(timer_for(p, candidate, index, fresh));
  const auto plan = fresh        ? confirming_looks(budget)
                    : p.hopeless ? std::vector<int>{pairs_of_hopeless}
                                 : planned_looks(budget);
  const int looks = static_cast<int>(plan.size());
  for (int number = 1; number <= looks; ++number) {
    // Fewer pairs than these decide next to nothing, however short the time is. A confirmation has longer.
    const int least = fresh ? 8 : number == 1 ? 4 : 6;
    const double seconds = fresh ? 3 * budget.full_s : number == 1 ? budget.short_s : budget.full_s;
    for (std::size_t i = 0; i < timers.size(); ++i) {
      if (!run_until(i, plan[static_cast<std::size_t>(number) - 1], least, seconds)) return false;
    }
    const bool narrow = look(p, timers, alpha_of_look(budget.alpha, number, looks));
    p.result.stage = number == 1 && !fresh ? evaluation_stage::timed_short
                     : fresh               ? evaluation_stage::confirmed
                                           : evaluation_stage::timed_full;
    if (p.request.wanted == evaluation_stage::timed_short) break;
    // Further looks are for those that may still be the best.
    if (!fresh && p.result.speedup_interval.high < bench.settings().promising * p.request.best_speedup) break;
    if ((fresh || number > 1) && narrow) break;
    const auto over = [&](double s) { return s > (fresh ? seconds : budget.full_s); };
    if ((fresh || number > 1) && std::all_of(spent.begin(), spent.end(), over)) break;
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
  bool delivered = false;
  std::string short_ones;
  for (const auto& timer : timers) {
    delivered |= timer.delivered();
    if (!timer.too_short()) continue;
    short_ones += fmt::format("{}'{}' (under {:.0f} ns)", short_ones.empty() ? "" : ", ",
                              workloads[timer.workload()].uuid, timer.resolution_ns());
  }
  p.result.context["clock"] = "isolated calls";
  if (delivered)
    p.result.context["clock"] += "; times of small workloads include the delivery of their inputs";
  if (!short_ones.empty())
    p.result.context["too_short"] =
        "too short to measure, counted as the resolution of the clock: " + short_ones;
  return true;
}

// A program that was built to the same bytes as the baseline was checked with it, and its speedup is 1 whatever
// the machine does. It is run once, for its times.
bool cpu_fitness::state::time_baseline_itself(passage& p, runner& candidate) {
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

void cpu_fitness::state::time_other_baselines(passage& p, runner& candidate) {
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

void cpu_fitness::state::run_cascade(passage& p) {
  if (!check_source(p) || !build(p)) return;
  if (p.request.wanted == evaluation_stage::built) {
    p.result.outcome = outcome::valid;
    p.result.stage = evaluation_stage::built;
    return;
  }
  const auto waiting = std::chrono::steady_clock::now();
  const auto processors = bench.take_processors(p.request.stop, p.request.waiting);
  p.result.cost.parts_s["waiting"] += seconds_since(waiting);
  if (bench.lacks_contents()) {
    const auto preparing = std::chrono::steady_clock::now();
    bench.add_contents(p.request.stop);
    p.result.cost.parts_s["preparation of the task"] += seconds_since(preparing);
  }
  const measuring_span measuring(p.request);
  tell_wait(p.result, processors->lock());
  const neighbour_watch neighbours;
  const auto start = std::chrono::steady_clock::now();
  const auto before = bench.trusted_times();
  auto candidate = bench.run_candidate(p.built.object_path, p.request.stop);
  const bool known = p.result.context.contains("identical_to") && !p.request.fresh &&
                     p.request.wanted > evaluation_stage::checked &&
                     p.request.wanted < evaluation_stage::confirmed;
  const auto climb = [&] {
    if (known) return void(time_baseline_itself(p, candidate));
    if (!check_smallest(p, candidate) || !check_all(p, candidate)) return;
    if (p.request.wanted <= evaluation_stage::checked) return;
    if (!time_workloads(p, candidate, p.request.wanted == evaluation_stage::confirmed)) return;
    if (!all_possible(
            p.result, [&](std::size_t i) { return bench.floor_ns(i); }, "machine"))
      return;
    if (p.result.stage >= evaluation_stage::confirmed) time_other_baselines(p, candidate);
  };
  climb();
  if (auto sentence = neighbours.disturbance(); !sentence.empty())
    p.result.context["disturbed"] = std::move(sentence);
  if (p.machine) require_order(bench.canary(), "machine");
  auto trusted = bench.trusted_times();
  trusted -= before;
  tell_parts(p.result.cost, candidate.times(), trusted);
  p.result.cost.device_s += seconds_since(start);
}

content_id cpu_fitness::state::key_of(const program& candidate) const {
  return result_key(bench.kind().backend, bench.kind().protocol, candidate, bench.identity());
}

std::optional<evaluation> cpu_fitness::state::cached(const evaluation_request& request) const {
  if (request.fresh || request.wanted == evaluation_stage::confirmed) return std::nullopt;
  auto found = results.find(key_of(*request.program));
  if (!found) return std::nullopt;
  return is_enough(*found, request, bench.settings().promising) ? found : std::nullopt;
}

void cpu_fitness::state::finish(passage& p, std::chrono::steady_clock::time_point start) {
  auto& e = p.result;
  conclude(e);
  if (p.built.ok) {
    const auto measuring = std::chrono::steady_clock::now();
    e.measures = bench.measures_of(p.built);
    e.measures["working_set_bytes"] = bench.working_set_bytes();
    for (const auto& measure : bench.settings().measures) {
      for (const auto& [name, value] : measure(*p.request.program, p.built.object_path, e))
        e.measures[name] = value;
    }
    e.cost.parts_s["measures of the object"] += seconds_since(measuring);
  }
  e.cost.wall_s = seconds_since(start);
}

cpu_fitness::cpu_fitness(std::shared_ptr<const task> t, cpu_settings settings)
    : cpu_fitness(std::move(t), std::move(settings), nullptr) {}
cpu_fitness::cpu_fitness(std::shared_ptr<const task> t, cpu_settings settings,
                         std::shared_ptr<const program_kind> kind)
    : state_(std::make_unique<state>(std::move(t), std::move(settings), std::move(kind))) {}
cpu_fitness::cpu_fitness(cpu_fitness&&) noexcept = default;
cpu_fitness& cpu_fitness::operator=(cpu_fitness&&) noexcept = default;
cpu_fitness::~cpu_fitness() = default;

evaluation cpu_fitness::evaluate(const evaluation_request& request) {
  if (!request.program) throw error(error_code::usage, "an evaluation needs a program");
  const auto start = std::chrono::steady_clock::now();
  const double waited_s = state_->bench.prepare(request.stop, request.waiting);
  const double prepared_s = seconds_since(start);
  if (auto found = state_->cached(request)) {
    found->cost.wall_s = found->cost.waited_s = waited_s;  // not what another evaluation has cost
    found->context.erase("waited");
    return *found;
  }
  passage p{request, state_->bench.blank(), {}, {}, false};
  p.result.protocol = state_->bench.kind().protocol;
  p.result.cost.waited_s = waited_s;
  p.call_ns.assign(subject().workloads.size(), 0);
  state_->run_cascade(p);
  if (p.result.outcome == outcome::timed_out ||
      p.machine) {  // once more: time and memory depend on the neighbours, too
    const auto cost = p.result.cost;
    passage again{request, state_->bench.blank(), {}, {}, false};
    again.result.protocol = state_->bench.kind().protocol;
    again.result.cost = cost;
    again.call_ns.assign(subject().workloads.size(), 0);
    state_->run_cascade(again);
    p.result = std::move(again.result);
    p.built = std::move(again.built);
  }
  if (prepared_s > 1e-3) p.result.cost.parts_s["preparation of the task"] += prepared_s;
  state_->finish(p, start);
  if (!p.result.valid() || p.result.stage > evaluation_stage::built)
    state_->results.keep(state_->key_of(*request.program), p.result);
  return p.result;
}

std::string cpu_fitness::describe() const {
  return state_->bench.describe();
}
std::string cpu_fitness::prototype() const {
  return kevo::prototype(subject());
}
const task& cpu_fitness::subject() const {
  return state_->bench.subject();
}

}  // namespace kevo
