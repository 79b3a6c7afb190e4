#include "fitness/cuda/measure/cuda_fitness.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include <kevo/error.hpp>
#include <kevo/evaluate/statistics.hpp>

#include "fitness/cascade/cascade.hpp"
#include "fitness/cascade/result_cache.hpp"
#include "fitness/cuda/measure/gpu_bench.hpp"
#include "fitness/cuda/measure/physics.hpp"

namespace kevo {
namespace {

using cuda::built_program;
using cuda::gpu_bench;
using cuda::pair_timer;
using cuda::program_runner;

constexpr const char* protocol_name = "cuda 6";
// A confirmation draws processes anew after so many blocks, so that what they add is in the interval.
constexpr std::size_t blocks_of_process = 2;
// Otherwise all pairs are of the same two processes. Standard deviation of the median of one kernel over
// fresh processes of an H200, calls gated one by one: means of eight processes of a kernel of 4.8 us have one
// of 25 ns (docs/gpu.md). With 20 ns, 13 of 495 comparisons of a kernel with itself were called different.
// With a cold cache one process of five takes a microsecond more for every kernel.
constexpr double warm_process_spread_ns = 80;
constexpr double cold_process_spread_ns = 400;

// The planned looks at the estimates so far, in pairs. Most candidates are done after the first, so that
// those which are not may have far more: each look has about twice the pairs of the one before. A
// confirmation, whose interval speaks of processes, wants several of them from the beginning.
std::vector<int> pairs_of_looks(const cuda_timing& budget, bool fresh) {
  const int first = budget.short_blocks;
  if (fresh) {
    const int more = budget.confirming_blocks - first;
    return {first + more / 3, first + 2 * more / 3, first + more};
  }
  const double growth = static_cast<double>(budget.full_blocks) / first;
  const int more = std::max(1, static_cast<int>(std::lround(std::log2(growth))));
  std::vector<int> pairs;
  for (int i = 0; i <= more; ++i)
    pairs.push_back(static_cast<int>(std::lround(first * std::pow(growth, static_cast<double>(i) / more))));
  return pairs;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// One evaluation on its way through the cascade.
struct passage {
  const evaluation_request& request;
  evaluation result;
  built_program built;
  std::vector<double> call_ns = {};  // of one call of each workload; 0 if unknown
  gpu_bench::call_profile profile = {};
  std::vector<double> resolution_ns = {};  // of the clock, for a call of each workload; 0: far below any time
  std::vector<std::size_t> too_short = {};  // workloads whose figure is the clock's resolution
  bool machine = false;                     // the failure may be the machine's
  bool again = false;                       // or the neighbours'
};

// One visible workload while it is timed.
struct timed_workload {
  pair_timer timer;
  double spent_s = 0;
};

void fail(passage& p, std::size_t index, const workload& w, const call_failure& failure) {
  p.machine = failure.machine;
  p.again = failure.again;
  tell_failure(p.result, index, w, failure);
}

// Which clock, and how fine it was where it was the trusted one alone.
void tell_clock(evaluation& e, const std::vector<timed_workload>& timed) {
  if (timed.empty() || !timed.front().timer.by_intervals()) {
    e.context["clock"] = "events, held against the trusted clock";
    return;
  }
  double resolution = 0;
  double shortest = timed.front().timer.shortest_interval_ns();
  std::uint32_t calls = timed.front().timer.calls();
  for (const auto& [timer, spent_s] : timed) {
    resolution = std::max(resolution, timer.resolution_ns());
    shortest = std::min(shortest, timer.shortest_interval_ns());
    calls = std::min(calls, timer.calls());
  }
  e.context["clock"] = "the trusted one, intervals of distinct calls less those of an empty program";
  e.context["hosted_resolution_ns"] = fmt::format("{:.1f}", resolution);
  e.context["hosted_interval_ms"] = fmt::format("{:.3f}", 1e-6 * shortest);
  e.context["hosted_interval_calls"] = std::to_string(calls);
}

}  // namespace

struct cuda_fitness::state {
  state(std::shared_ptr<const task> t, cuda_settings s)
      : bench(std::move(t), std::move(s)),
        results(bench.settings().cache_dir.empty() ? result_cache()
                                                   : result_cache(bench.settings().cache_dir + "/results")) {}

  gpu_bench bench;
  result_cache results;

  std::chrono::nanoseconds limit_of(const program_runner& candidate, std::size_t workload) const {
    return candidate.has_run(workload) ? bench.call_limit(workload)
                                       : bench.first_call_limit(workload, candidate.kind());
  }

  // Gates, cheapest first; each answers whether the candidate may go on.
  bool build(passage& p);
  bool check_workload(passage& p, program_runner& candidate, std::size_t index, std::uint32_t from,
                      std::uint32_t count);
  bool check(passage& p, program_runner& candidate, bool hidden);
  void forget_hidden(program_runner& candidate) const;
  bool judge_times(passage& p, cuda::program_kind kind) const;
  bool look(passage& p, const std::vector<timed_workload>& timed, double alpha, bool fresh) const;
  bool time_pairs(passage& p, timed_workload& one, int pairs, double limit_s, bool fresh) const;
  bool take_looks(passage& p, std::vector<timed_workload>& timed, bool fresh) const;
  bool sustain(passage& p, std::vector<timed_workload>& timed) const;
  bool time_workloads(passage& p, program_runner& candidate, bool fresh);
  void time_other_baselines(passage& p, program_runner& candidate);
  bool same_bits(passage& p, program_runner& candidate);
  bool pass_checkers(passage& p, program_runner& candidate);
  void run_cascade(passage& p);
  static void account(passage& p, const gpu_bench::hold& device);
  content_id key_of(const program& candidate) const;
  std::optional<evaluation> cached(const evaluation_request& request) const;
  void finish(passage& p, std::chrono::steady_clock::time_point start) const;
};

bool cuda_fitness::state::build(passage& p) {
  const auto& source = *p.request.program;
  std::size_t size = 0;
  for (const auto& file : source.files) size += file.text.size();
  if (source.language != "cuda" || source.files.empty() || size > bench.settings().limits.source_bytes) {
    const std::string why = source.language != "cuda"
                                ? "the CUDA backend takes programs in cuda, not in " + source.language
                            : source.files.empty() ? "the program has no file"
                                                   : "the source is too large";
    p.result.outcome = outcome::build_failed;
    p.result.reasons.push_back(why);
    p.result.feedback = why;
    return false;
  }
  p.built = bench.build(source, false, p.request.stop);
  if (p.built.ok) return true;
  p.result.outcome = p.built.outcome;
  p.result.reasons = p.built.reasons;
  p.result.feedback = p.built.feedback;
  return false;
}

bool cuda_fitness::state::check_workload(passage& p, program_runner& candidate, std::size_t index,
                                         std::uint32_t from, std::uint32_t count) {
  for (std::uint32_t i = from; i < count; ++i) {
    if (p.request.stop.stop_requested()) throw error(error_code::interrupted, "the evaluation was stopped");
    const auto time = candidate.check(index, i, limit_of(candidate, index));
    if (time.failure) return fail(p, index, bench.subject().workloads[index], *time.failure), false;
    auto& known = p.call_ns[index];
    known = known > 0 ? std::min(known, time.event_ns) : time.event_ns;
  }
  return true;
}

// The visible workloads, the one with the least data first, or the hidden ones.
bool cuda_fitness::state::check(passage& p, program_runner& candidate, bool hidden) {
  const auto& workloads = bench.subject().workloads;
  const auto first = bench.smallest_visible();
  const auto usual = [&](std::size_t i) {
    return std::min(workloads[i].hidden ? 2 : bench.contents_to_check(), 1 + bench.contents()[i].varied);
  };
  const auto passes = [&](std::size_t i) {
    if (!check_workload(p, candidate, i, 0, usual(i))) return false;
    p.result.workloads[i].outcome = outcome::valid;
    return true;
  };
  if (!hidden && !passes(first)) return false;
  for (std::size_t i = 0; i < workloads.size(); ++i) {
    if (i != first && workloads[i].hidden == hidden && !passes(i)) return false;
  }
  return true;
}

// Ends the process of a candidate after hidden workloads: the next one cannot tell their sizes to anybody,
// neither by a message, nor by how or when it fails, nor by the times that it takes.
void cuda_fitness::state::forget_hidden(program_runner& candidate) const {
  const auto& workloads = bench.subject().workloads;
  if (std::any_of(workloads.begin(), workloads.end(), [](const workload& w) { return w.hidden; }))
    candidate.restart();
}

// An optional gate: each run in a process of its own gives the bits of the first.
bool cuda_fitness::state::same_bits(passage& p, program_runner& candidate) {
  const auto& workloads = bench.subject().workloads;
  std::vector<std::string> first(workloads.size());
  std::vector<std::size_t> visible_first;
  for (const bool hidden : {false, true}) {
    for (std::size_t i = 0; i < workloads.size(); ++i) {
      if (workloads[i].hidden == hidden) visible_first.push_back(i);
    }
  }
  const int runs = bench.settings().gates.determinism;
  for (int run = 0; runs > 1 && run < runs; ++run) {
    candidate.restart();
    for (const std::size_t i : visible_first) {
      if (p.request.stop.stop_requested()) throw error(error_code::interrupted, "the evaluation was stopped");
      const auto time = candidate.fingerprint(i, limit_of(candidate, i));
      if (time.failure) return fail(p, i, workloads[i], *time.failure), false;
      if (run == 0) {
        first[i] = time.fingerprint;
      } else if (time.fingerprint != first[i]) {
        const std::string detail = fmt::format("run {} of {} on the same inputs", run + 1, runs);
        return fail(p, i, workloads[i], {outcome::incorrect, "gives other bits in another run", detail}),
               false;
      }
    }
  }
  if (runs > 1) forget_hidden(candidate);
  if (runs > 1) p.result.context["determinism"] = fmt::format("{} runs gave the same bits", runs);
  return true;
}

// Optional gates: NVIDIA's checkers watch one call in a process of their own.
bool cuda_fitness::state::pass_checkers(passage& p, program_runner& candidate) {
  const std::string checkers = bench.checkers();
  if (checkers.empty()) return true;
  candidate.restart();
  if (const auto failure = bench.check_gates(p.built, p.request.stop)) {
    const auto index = bench.smallest_visible();
    return fail(p, index, bench.subject().workloads[index], *failure), false;
  }
  p.result.context["gates"] = checkers + ": no errors";
  return true;
}

// Answers whether the interval is narrow enough to end.
bool cuda_fitness::state::look(passage& p, const std::vector<timed_workload>& timed, double alpha,
                               bool fresh) const {
  std::vector<timed_pairs> pairs;
  pairs.reserve(timed.size());
  std::vector<std::vector<timing_pair>> credible;  // a clock is not believed below its resolution
  credible.reserve(timed.size());
  p.too_short.clear();
  for (const auto& [timer, spent_s] : timed) {
    const auto index = timer.workload();
    const bool cold = bench.subject().workloads[index].cache == "cold";
    p.resolution_ns[index] = timer.by_intervals() ? timer.resolution_ns() : 0;
    const double least_ns = cuda::resolutions_apart * p.resolution_ns[index];
    auto& raised = credible.emplace_back(timer.pairs());
    std::size_t below = 0;
    for (auto& pair : raised) {
      below += pair.candidate_ns < least_ns ? 1 : 0;
      pair = {std::max(pair.candidate_ns, least_ns), std::max(pair.baseline_ns, least_ns)};
    }
    const bool too_short = 2 * below > raised.size();
    if (too_short) p.too_short.push_back(index);
    const double spread = fresh ? 0 : cold ? cold_process_spread_ns : warm_process_spread_ns;
    pairs.push_back({.workload = index,
                     .pairs = &raised,
                     .speed_of_light_ns = bench.speed_of_light_ns(index),
                     .per_process = fresh ? blocks_of_process : 1,
                     .process_spread_ns = too_short ? std::hypot(spread, p.resolution_ns[index]) : spread});
  }
  const bool narrow =
      estimate_all(p.result, bench.subject(), pairs, alpha, bench.settings().timing.target_interval);
  for (const auto& [timer, spent_s] : timed) p.result.workloads[timer.workload()].samples = timer.pairs();
  return narrow;
}

// Whether a device can be so fast. What the clock of this mode cannot tell from a possible time is valid, its
// figure no better than the clock.
bool cuda_fitness::state::judge_times(passage& p, cuda::program_kind kind) const {
  std::string told;
  for (std::size_t i = 0; i < p.result.workloads.size(); ++i) {
    const auto& w = p.result.workloads[i];
    if (w.hidden || !(w.time_ns > 0)) continue;
    const bool below = std::find(p.too_short.begin(), p.too_short.end(), i) != p.too_short.end();
    if (below || cuda::judge_time(w.time_ns, bench.floor_ns(i, kind), p.resolution_ns[i]) ==
                     cuda::plausibility::too_short)
      told += (told.empty() ? "" : ", ") + w.uuid;
  }
  if (!told.empty()) p.result.context["too_short"] = told;
  return all_possible(
      p.result,
      [&](std::size_t i) { return bench.floor_ns(i, kind) - cuda::resolutions_apart * p.resolution_ns[i]; },
      "device");
}

// More pairs of one workload; answers whether the candidate is still in order.
bool cuda_fitness::state::time_pairs(passage& p, timed_workload& one, int pairs, double limit_s,
                                     bool fresh) const {
  auto& timer = one.timer;
  const auto start = std::chrono::steady_clock::now();
  const double before_s = one.spent_s;
  for (std::size_t renewed = 0; static_cast<int>(timer.pairs().size()) < pairs;) {
    one.spent_s = before_s + seconds_since(start);
    if (timer.pairs().size() >= 3 && one.spent_s > limit_s) break;
    if (p.request.stop.stop_requested()) throw error(error_code::interrupted, "the evaluation was stopped");
    const auto done = timer.pairs().size();
    if (fresh && done % blocks_of_process == 0 && done > renewed) {
      timer.renew();
      renewed = done;
    }
    if (auto failure = timer.block())
      return fail(p, timer.workload(), bench.subject().workloads[timer.workload()], *failure), false;
  }
  one.spent_s = before_s + seconds_since(start);
  return true;
}

// Looks until the interval is narrow, or it is plain that the candidate is not among the best, or the time is
// over.
bool cuda_fitness::state::take_looks(passage& p, std::vector<timed_workload>& timed, bool fresh) const {
  const auto& budget = bench.settings().timing;
  const auto looks = pairs_of_looks(budget, fresh);
  for (std::size_t number = 0; number < looks.size(); ++number) {
    const bool brief = number == 0 && !fresh;
    const double limit_s = brief ? budget.short_s : budget.full_s;
    for (auto& one : timed) {
      if (!time_pairs(p, one, looks[number], limit_s, fresh)) return false;
    }
    const double alpha =
        alpha_of_look(budget.alpha, static_cast<int>(number) + 1, static_cast<int>(looks.size()));
    const bool narrow = look(p, timed, alpha, fresh);
    p.result.stage = fresh              ? evaluation_stage::confirmed
                     : brief && !narrow ? evaluation_stage::timed_short
                                        : evaluation_stage::timed_full;
    if (p.request.wanted == evaluation_stage::timed_short) {
      p.result.stage = evaluation_stage::timed_short;
      break;
    }
    const bool hopeless =
        !fresh && p.result.speedup_interval.high < bench.settings().promising * p.request.best_speedup;
    const bool over = !brief && std::all_of(timed.begin(), timed.end(),
                                            [&](const auto& one) { return one.spent_s > limit_s; });
    if (narrow || hopeless || over) break;
  }
  return true;
}

// A champion's time when the device is as warm as it gets.
bool cuda_fitness::state::sustain(passage& p, std::vector<timed_workload>& timed) const {
  const double seconds = bench.settings().timing.sustained_s;
  if (!(seconds > 0)) return true;
  for (auto& one : timed) {
    const auto index = one.timer.workload();
    const auto time = one.timer.sustained(seconds);
    if (const auto* failure = std::get_if<call_failure>(&time))
      return fail(p, index, bench.subject().workloads[index], *failure), false;
    // Contents came again, which a program might have remembered: it is not believed to have become faster.
    auto& w = p.result.workloads[index];
    w.sustained_ns = std::max(std::get<double>(time), w.time_ns);
  }
  return true;
}

bool cuda_fitness::state::time_workloads(passage& p, program_runner& candidate, bool fresh) {
  auto& baseline = bench.baseline();
  if (fresh) {
    candidate.restart();
    baseline.program->restart();
  }
  std::vector<timed_workload> timed;
  for (std::size_t i = 0; i < bench.subject().workloads.size(); ++i) {
    if (!bench.subject().workloads[i].hidden)
      timed.push_back({bench.timer(candidate, baseline, i, p.call_ns[i])});
  }
  candidate.workers().settle();
  baseline.program->workers().settle();
  if (!take_looks(p, timed, fresh)) return false;
  if (fresh && !sustain(p, timed)) return false;
  std::size_t discarded = 0;
  std::size_t kept = 0;
  int disagreements = 0;
  for (const auto& [timer, spent_s] : timed) {
    discarded += static_cast<std::size_t>(timer.discarded());
    kept += timer.pairs().size();
    disagreements += timer.disagreements();
  }
  tell_discarded(p.result, discarded, kept);
  if (disagreements > 0) p.result.context["clock_disagreements"] = std::to_string(disagreements);
  tell_clock(p.result, timed);
  return true;
}

void cuda_fitness::state::time_other_baselines(passage& p, program_runner& candidate) {
  const auto& workloads = bench.subject().workloads;
  for (std::size_t other = 1; other < bench.baselines().size(); ++other) {
    auto& against = bench.baselines()[other];
    std::vector<weighted_estimate> parts;
    for (std::size_t i = 0; i < workloads.size(); ++i) {
      if (workloads[i].hidden) continue;
      auto timer = bench.timer(candidate, against, i, p.call_ns[i]);
      while (timer.pairs().size() < 3) {
        if (auto failure = timer.block()) return fail(p, i, workloads[i], *failure);
      }
      parts.push_back({speedup_of(timer.pairs(), 0.05), workloads[i].weight});
    }
    p.result.other_speedups[against.name] = geometric_mean(parts).value;
  }
}

void cuda_fitness::state::run_cascade(passage& p) {
  if (!build(p)) return;
  if (p.request.wanted == evaluation_stage::built) {
    p.result.outcome = outcome::valid;
    p.result.stage = evaluation_stage::built;
    return;
  }
  const gpu_bench::hold device(bench, p.request.stop);
  const measuring_span measuring(p.request);
  auto candidate = bench.run_candidate(p.built);
  const auto climb = [&] {
    if (!check(p, candidate, false) || !same_bits(p, candidate) || !pass_checkers(p, candidate)) return;
    p.result.outcome = outcome::valid;
    p.result.stage = evaluation_stage::checked;
    if (p.request.wanted > evaluation_stage::checked) {
      if (!time_workloads(p, candidate, p.request.wanted == evaluation_stage::confirmed)) return;
      if (!judge_times(p, candidate.kind())) return;
      if (p.result.stage >= evaluation_stage::confirmed) time_other_baselines(p, candidate);
      if (!p.result.valid()) return;
      candidate.workers().replace();
    }
    // Last of all: what a process says, and how long it takes, is told to operators, and must not be told by
    // one that has seen a hidden size. Another process for the timing would cost a context for every
    // candidate.
    if (!check(p, candidate, true)) return;
    if (p.result.stage >= evaluation_stage::timed_full)
      p.profile = bench.profile_call(p.built, p.request.stop);
  };
  try {
    climb();
  } catch (...) {
    candidate.restart();
    throw;
  }
  candidate.restart();
  if (p.machine) require_order(bench.canary(), "device");
  account(p, device);
}

// Where the time went in which nobody else could measure.
void cuda_fitness::state::account(passage& p, const gpu_bench::hold& device) {
  const double held = device.seconds();
  const auto& spent = device.spent();
  p.result.cost.device_s += held;
  auto& context = p.result.context;
  const auto share = [&](double seconds) { return fmt::format("{:.3f}", held > 0 ? seconds / held : 0); };
  context["foreign_processes"] = device.foreign();
  context["held_s"] = fmt::format("{:.4f}", held);
  context["held_calls"] = std::to_string(spent.calls);
  context["held_share_kernels"] = share(spent.kernels_s);
  context["held_share_around_kernels"] = share(spent.calls_s - spent.kernels_s);
  context["held_share_workers"] = share(spent.workers_s);
}

content_id cuda_fitness::state::key_of(const program& candidate) const {
  return result_key("cuda", protocol_name, candidate, bench.identity());
}

std::optional<evaluation> cuda_fitness::state::cached(const evaluation_request& request) const {
  if (request.fresh || request.wanted == evaluation_stage::confirmed) return std::nullopt;
  auto found = results.find(key_of(*request.program));
  if (!found) return std::nullopt;
  return is_enough(*found, request, bench.settings().promising) ? found : std::nullopt;
}

void cuda_fitness::state::finish(passage& p, std::chrono::steady_clock::time_point start) const {
  auto& e = p.result;
  conclude(e);
  if (p.built.ok) {
    e.measures = bench.measures(p.built);
    e.measures.insert(p.profile.measures.begin(), p.profile.measures.end());
    if (const auto found = e.context.find("too_short"); e.valid() && found != e.context.end())
      e.feedback +=
          "\nworkload " + found->second +
          ": too short for this mode; the time is the resolution of the clock, and the speedup what is "
          "certain. Launch lines are timed by a finer clock.";
    if (e.valid()) e.feedback += "\n" + bench.profile(p.built, e) + p.profile.text;
  }
  e.cost.wall_s = seconds_since(start);
}

cuda_fitness::cuda_fitness(std::shared_ptr<const task> t, cuda_settings settings)
    : state_(std::make_unique<state>(std::move(t), std::move(settings))) {}
cuda_fitness::cuda_fitness(cuda_fitness&&) noexcept = default;
cuda_fitness& cuda_fitness::operator=(cuda_fitness&&) noexcept = default;
cuda_fitness::~cuda_fitness() = default;

evaluation cuda_fitness::evaluate(const evaluation_request& request) {
  if (!request.program) throw error(error_code::usage, "an evaluation needs a program");
  const auto start = std::chrono::steady_clock::now();
  state_->bench.prepare(request.stop);
  if (auto found = state_->cached(request)) return *found;
  const auto attempt = [&] {
    passage p{request, state_->bench.blank(), {}};
    p.result.protocol = protocol_name;
    p.call_ns.assign(state_->bench.subject().workloads.size(), 0);
    p.resolution_ns.assign(state_->bench.subject().workloads.size(), 0);
    try {
      state_->run_cascade(p);
    } catch (const error& failure) {
      if (failure.code() != error_code::environment) throw;
      // There may be several devices: say which.
      throw error(failure.code(), p.result.device + ": " + failure.message(), failure.place(),
                  failure.hint().empty()
                      ? "nvidia-smi and the kernel's log (Xid) say more; `kevo resume` goes on"
                      : failure.hint());
    }
    return p;
  };
  std::optional<passage> p(attempt());
  if (p->again) {  // time and memory depend on the neighbours, too
    const auto spent = p->result.cost.device_s;
    p.emplace(attempt());
    p->result.cost.device_s += spent;
  }
  state_->finish(*p, start);
  if (!p->result.valid() || p->result.stage > evaluation_stage::built)
    state_->results.keep(state_->key_of(*request.program), p->result);
  return std::move(p->result);
}

std::string cuda_fitness::describe() const {
  return state_->bench.describe();
}

}  // namespace kevo
