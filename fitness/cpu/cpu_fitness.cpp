#include "fitness/cpu/cpu_fitness.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <mutex>

#include <fmt/format.h>

#include <kevo/error.hpp>
#include <kevo/evaluate/statistics.hpp>

#include "fitness/cpu/bench.hpp"
#include "fitness/cpu/feedback.hpp"
#include "fitness/cpu/paired.hpp"
#include "fitness/cpu/result_cache.hpp"
#include "fitness/oracle/signature.hpp"
#include "fitness/sandbox/sandbox.hpp"

namespace kevo {
namespace {

using std::chrono::nanoseconds;

constexpr const char* protocol_name = "cpu 1";

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// One evaluation on its way through the cascade.
struct passage {
  const evaluation_request& request;
  evaluation result;
  build_result built;
  std::vector<double> call_ns;  // of one call of each workload; 0 if unknown
  bool machine = false;         // the failure may be the machine's
};

// The outcome of a failed call. A hidden workload tells nothing but that it failed.
void fail(passage& p, std::size_t index, const workload& w, const call_failure& failure) {
  p.result.outcome = failure.outcome;
  p.result.workloads[index].outcome = failure.outcome;
  p.machine = failure.machine;
  if (w.hidden) {
    p.result.reasons.push_back("a hidden workload failed");
    p.result.feedback = "a hidden workload failed";
    return;
  }
  p.result.reasons.push_back(failure.reason);
  p.result.feedback = fmt::format("workload {}: {}", w.uuid, failure.reason);
  if (!failure.detail.empty()) p.result.feedback += ": " + failure.detail;
}

}  // namespace

struct cpu_fitness::state {
  state(std::shared_ptr<const task> t, cpu_settings s)
      : bench(std::move(t), std::move(s)),
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
  bool above_floor(passage& p) const;

  bool check_workload(passage& p, runner& candidate, std::size_t index, std::size_t from, std::size_t count);
  bool look(passage& p, std::vector<paired_timer>& timers, double alpha) const;
  void time_other_baselines(passage& p, runner& candidate);
  void run_cascade(passage& p);
  void judge_machine();
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
  if (source.language != "cpp")
    return refuse("the CPU backend takes programs in cpp, not in " + source.language);
  if (source.files.empty()) return refuse("the program has no file");
  std::size_t size = 0;
  for (const auto& file : source.files) size += file.text.size();
  if (size > bench.settings().limits.source_bytes) return refuse("the source is too large");
  return true;
}

bool cpu_fitness::state::build(passage& p) {
  p.built = bench.build_candidate(*p.request.program, p.request.stop);
  if (p.built.ok) return true;
  p.result.outcome = outcome::build_failed;
  p.result.reasons = p.built.reasons;
  if (p.result.reasons.empty()) p.result.reasons.push_back("does not compile");
  p.result.feedback = p.built.diagnostics.empty() ? p.result.reasons.front() : p.built.diagnostics;
  return false;
}

bool cpu_fitness::state::check_workload(passage& p, runner& candidate, std::size_t index, std::size_t from,
                                        std::size_t count) {
  const auto& w = bench.subject().workloads[index];
  const auto contents = bench.secrets().varied(index, from + count);
  candidate.select(index, nullptr);
  for (std::size_t i = from; i < contents.size(); ++i) {
    const auto time = candidate.isolated(contents[i], bench.call_limit(index));
    if (time.failure) return fail(p, index, w, *time.failure), false;
    auto& known = p.call_ns[index];
    known = known > 0 ? std::min(known, time.ns) : time.ns;
  }
  return true;
}

bool cpu_fitness::state::check_smallest(passage& p, runner& candidate) {
  return check_workload(p, candidate, bench.smallest_visible(), 0, 1);
}

bool cpu_fitness::state::check_all(passage& p, runner& candidate) {
  const auto& workloads = bench.subject().workloads;
  for (std::size_t i = 0; i < workloads.size(); ++i) {
    const std::size_t from = i == bench.smallest_visible() ? 1 : 0;
    const std::size_t count = workloads[i].hidden ? 2 : bench.contents_to_check();
    if (!check_workload(p, candidate, i, from, count - from)) return false;
  }
  p.result.outcome = outcome::valid;
  p.result.stage = evaluation_stage::checked;
  return true;
}

// Estimates from all pairs so far; answers whether the interval is narrow enough to end.
bool cpu_fitness::state::look(passage& p, std::vector<paired_timer>& timers, double alpha) const {
  std::vector<weighted_estimate> parts;
  for (auto& timer : timers) {
    const auto index = timer.workload();
    auto& w = p.result.workloads[index];
    const auto speedup = speedup_of(timer.pairs(), alpha);
    std::vector<double> times;
    std::vector<double> baseline_times;
    for (const auto& pair : timer.pairs()) {
      times.push_back(pair.candidate_ns);
      baseline_times.push_back(pair.baseline_ns);
    }
    const auto time = positive_location(times, alpha);
    w.samples = timer.pairs();
    w.speedup = speedup.value;
    w.time_ns = time.value;
    w.time_interval = time.range;
    w.baseline_ns = median(baseline_times);
    w.sol_fraction = bench.speed_of_light_ns(index) / w.time_ns;
    parts.push_back({speedup, bench.subject().workloads[index].weight});
  }
  const auto mean = geometric_mean(parts);
  p.result.speedup = mean.value;
  p.result.speedup_interval = mean.range;
  return mean.range.high - mean.range.low < bench.settings().timing.target_interval * mean.value;
}

bool cpu_fitness::state::time_workloads(passage& p, runner& candidate, bool fresh) {
  const auto& budget = bench.settings().timing;
  const auto& workloads = bench.subject().workloads;
  if (fresh) {
    candidate.restart();
    bench.baseline_runner().restart();
  }
  std::vector<std::size_t> visible;
  for (std::size_t i = 0; i < workloads.size(); ++i) {
    if (!workloads[i].hidden) visible.push_back(i);
  }
  std::vector<paired_timer> timers;
  const auto run_until = [&](std::size_t which, int blocks, double seconds) {
    const auto start = std::chrono::steady_clock::now();
    auto& timer = timers[which];
    timer.select();
    while (static_cast<int>(timer.pairs().size()) < blocks) {
      if (!timer.pairs().empty() && seconds_since(start) > seconds && timer.pairs().size() >= 3) break;
      if (p.request.stop.stop_requested()) throw error(error_code::interrupted, "the evaluation was stopped");
      if (auto failure = timer.block()) {
        fail(p, timer.workload(), workloads[timer.workload()], *failure);
        return false;
      }
    }
    return true;
  };
  for (const auto index : visible) {
    timers.emplace_back(bench.plan_for(index, p.call_ns[index], candidate));
  }
  // Three planned looks, or one where the full protocol was asked for.
  const int looks = fresh ? 1 : 3;
  const int steps[] = {budget.short_blocks, (budget.short_blocks + budget.full_blocks) / 2,
                       budget.full_blocks};
  for (int number = 1; number <= looks; ++number) {
    const int blocks = fresh ? budget.full_blocks : steps[number - 1];
    const double seconds = fresh ? budget.full_s : number == 1 ? budget.short_s : budget.full_s / 2;
    for (std::size_t i = 0; i < timers.size(); ++i) {
      if (!run_until(i, blocks, seconds)) return false;
    }
    const bool narrow = look(p, timers, alpha_of_look(budget.alpha, number, looks));
    p.result.stage = number == 1 && !fresh ? evaluation_stage::timed_short
                     : fresh               ? evaluation_stage::confirmed
                                           : evaluation_stage::timed_full;
    if (p.request.wanted == evaluation_stage::timed_short) break;
    // Further looks are for those that may still be the best.
    if (!fresh && p.result.speedup_interval.high < bench.settings().promising * p.request.best_speedup) break;
    if (number > 1 && narrow) break;
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
  int discarded = 0;
  std::size_t kept = 0;
  for (const auto& timer : timers) {
    discarded += timer.discarded();
    kept += timer.pairs().size();
  }
  if (discarded > 0) p.result.context["discarded_pairs"] = std::to_string(discarded);
  if (10 * static_cast<std::size_t>(discarded) > kept)
    p.result.context["timing"] = "ambiguous: many pairs were discarded";
  p.result.context["clock"] =
      std::string(timers.front().plan().mode == clock_mode::isolated ? "isolated calls" : "intervals");
  return true;
}

bool cpu_fitness::state::above_floor(passage& p) const {
  for (std::size_t i = 0; i < p.result.workloads.size(); ++i) {
    auto& w = p.result.workloads[i];
    if (w.hidden || !(w.time_ns > 0) || w.time_ns >= bench.floor_ns(i)) continue;
    w.outcome = p.result.outcome = outcome::suspect;
    p.result.reasons.push_back("faster than this machine can be");
    p.result.feedback =
        fmt::format("workload {}: {} is below what the task's compulsory work takes on this machine ({})",
                    w.uuid, time_text(w.time_ns), time_text(bench.floor_ns(i)));
    return false;
  }
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
  const auto processors = bench.take_processors(p.request.stop);
  const measuring_span measuring(p.request);
  const auto start = std::chrono::steady_clock::now();
  auto candidate = bench.run_candidate(p.built.object_path, p.request.stop);
  const auto climb = [&] {
    if (!check_smallest(p, candidate) || !check_all(p, candidate)) return;
    if (p.request.wanted <= evaluation_stage::checked) return;
    if (!time_workloads(p, candidate, p.request.wanted == evaluation_stage::confirmed)) return;
    if (!above_floor(p)) return;
    if (p.result.stage >= evaluation_stage::confirmed) time_other_baselines(p, candidate);
  };
  climb();
  if (p.machine) judge_machine();
  p.result.cost.device_s += seconds_since(start);
}

// A failure that could be the machine's counts as the candidate's only if a known-good program still runs.
void cpu_fitness::state::judge_machine() {
  if (const auto failure = bench.canary()) {
    throw error(error_code::environment, "a program that is known to be good fails, too (" + failure->reason +
                                             " " + failure->detail + "): the machine is not in order");
  }
}

content_id cpu_fitness::state::key_of(const program& candidate) const {
  content_hasher hash;
  hash.text("kevo cpu result 1").text(protocol_name).text(to_string(id_of(candidate))).text(bench.identity());
  return hash.finish();
}

std::optional<evaluation> cpu_fitness::state::cached(const evaluation_request& request) const {
  if (request.fresh || request.wanted == evaluation_stage::confirmed) return std::nullopt;
  auto found = results.find(key_of(*request.program));
  if (!found) return std::nullopt;
  const bool enough = !found->valid() || found->stage >= request.wanted ||
                      (found->stage == evaluation_stage::timed_short &&
                       found->speedup_interval.high < bench.settings().promising * request.best_speedup);
  return enough ? found : std::nullopt;
}

void cpu_fitness::state::finish(passage& p, std::chrono::steady_clock::time_point start) {
  auto& e = p.result;
  if (!e.valid()) {
    e.speedup = 0;
    e.speedup_interval = {};
  } else {
    e.feedback = feedback_of_valid(e);
    double sol = 1e300;
    for (const auto& w : e.workloads) {
      if (!w.hidden) sol = std::min(sol, w.sol_fraction);
    }
    e.sol_fraction = sol < 1e300 ? sol : 0;
  }
  e.score = e.speedup;
  if (p.built.ok) {
    e.measures = bench.measures_of(p.built);
    e.measures["working_set_bytes"] = bench.working_set_bytes();
    for (const auto& measure : bench.settings().measures) {
      for (const auto& [name, value] : measure(*p.request.program, p.built, e)) e.measures[name] = value;
    }
  }
  e.cost.wall_s = seconds_since(start);
}

cpu_fitness::cpu_fitness(std::shared_ptr<const task> t, cpu_settings settings)
    : state_(std::make_unique<state>(std::move(t), std::move(settings))) {}
cpu_fitness::cpu_fitness(cpu_fitness&&) noexcept = default;
cpu_fitness& cpu_fitness::operator=(cpu_fitness&&) noexcept = default;
cpu_fitness::~cpu_fitness() = default;

evaluation cpu_fitness::evaluate(const evaluation_request& request) {
  if (!request.program) throw error(error_code::usage, "an evaluation needs a program");
  const auto start = std::chrono::steady_clock::now();
  state_->bench.prepare(request.stop);
  if (auto found = state_->cached(request)) return *found;
  passage p{request, state_->bench.blank(), {}, {}, false};
  p.result.protocol = protocol_name;
  p.call_ns.assign(subject().workloads.size(), 0);
  state_->run_cascade(p);
  if (p.result.outcome == outcome::timed_out ||
      p.machine) {  // once more: time and memory depend on the neighbours, too
    const auto cost = p.result.cost;
    passage again{request, state_->bench.blank(), {}, {}, false};
    again.result.protocol = protocol_name;
    again.result.cost = cost;
    again.call_ns.assign(subject().workloads.size(), 0);
    state_->run_cascade(again);
    p.result = std::move(again.result);
    p.built = std::move(again.built);
  }
  state_->finish(p, start);
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
