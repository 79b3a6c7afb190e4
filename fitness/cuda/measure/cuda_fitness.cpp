#include "fitness/cuda/measure/cuda_fitness.hpp"

#include <algorithm>
#include <chrono>
#include <optional>

#include <fmt/format.h>

#include <kevo/error.hpp>

#include "fitness/cascade/answer.hpp"
#include "fitness/cascade/cascade.hpp"
#include "fitness/cascade/result_cache.hpp"
#include "fitness/cuda/measure/device_room.hpp"
#include "fitness/cuda/measure/device_task.hpp"
#include "fitness/cuda/measure/gpu_bench.hpp"
#include "fitness/cuda/measure/own_kernels.hpp"
#include "fitness/cuda/measure/screening.hpp"
#include "fitness/cuda/measure/time_workloads.hpp"
#include "src/base/time/seconds_since.hpp"

namespace kevo {
namespace {

using cuda::device_time_spent;
using cuda::evaluation_state;
using cuda::gpu_bench;
using cuda::left_no_room;
using cuda::speaks_of_room;

// What the time went to in which the device was held, without overlaps.
void tell_parts(evaluation_cost& cost, const device_time_spent& spent) {
  cost.parts_s["start of processes"] += spent.workers_s - spent.loads_s;
  cost.parts_s["load"] += spent.loads_s;
  cost.parts_s["first calls of processes"] += spent.first_calls_s;
  cost.parts_s["calls of the candidate"] += spent.candidate_s;
  cost.parts_s["calls of the baselines"] += spent.trusted_s;
  cost.parts_s["preparation of calls and comparison of outputs"] +=
      spent.calls_s - spent.first_calls_s - spent.candidate_s - spent.trusted_s;
}

constexpr const char* protocol_name = "cuda 12";
constexpr const char* python_protocol_name = "torch 10, cuda 12";

// Programs of PyTorch have a history of their own.
const char* protocol_of(const task& t) {
  return cuda::is_python_task(t) ? python_protocol_name : protocol_name;
}

}  // namespace

struct cuda_fitness::state {
  state(std::shared_ptr<const task> t, cuda_settings s)
      : bench(std::move(t), std::move(s)),
        results(bench.settings().cache_dir.empty() ? result_cache()
                                                   : result_cache(bench.settings().cache_dir + "/results")) {}

  gpu_bench bench;
  result_cache results;

  void run_cascade(evaluation_state& p);
  static void account(evaluation_state& p, const gpu_bench::hold& device);

  // For `answer`.
  content_id key_of(const program& candidate) const;
  evaluation_state judge(const evaluation_request& request);
  static bool is_doubtful(const evaluation_state& p) { return p.again; }
  void finish(evaluation_state& p) const;
};

void cuda_fitness::state::run_cascade(evaluation_state& p) {
  const auto building = std::chrono::steady_clock::now();
  const bool builds = build_candidate(bench, p);
  p.result.cost.parts_s["compile"] += seconds_since(building);
  if (!builds) return;
  if (p.request.wanted == evaluation_stage::built) {
    p.result.outcome = outcome::unchecked;
    p.result.stage = evaluation_stage::built;
    return;
  }
  const auto waiting = std::chrono::steady_clock::now();
  const gpu_bench::hold device(bench, p.request.stop, p.request.waiting);
  p.result.cost.parts_s["waiting"] += seconds_since(waiting);
  tell_wait(p.result, device.lock());
  const measuring_span measuring(p.request);
  std::optional<gpu_bench::sparing> memory;
  if (p.sparing) memory.emplace(bench);
  auto candidate = bench.run_candidate(p.built);
  const auto climb = [&] {
    if (!check_workloads(bench, p, candidate, false) || !same_bits(bench, p, candidate) ||
        !pass_checkers(bench, p, candidate))
      return;
    // What a process says, and how long it takes, is told to operators, and must not be told by one that has
    // seen a hidden size. A process in Python that was checked is not timed, so that it can end with the
    // hidden sizes.
    const bool ends_after_checks = bench.runs_python();
    if (ends_after_checks) {
      if (!check_workloads(bench, p, candidate, true)) return;
      candidate.restart();
    }
    p.result.outcome = outcome::valid;
    p.result.stage = evaluation_stage::checked;
    p.checked_s = device.seconds();
    const bool watches = bench.runs_python() && p.request.wanted > evaluation_stage::checked;
    const bool refuses = bench.settings().own_kernel_share > 0;
    if (watches && refuses) {
      // Ended before anything is timed.
      watch_own_kernels(bench, p, candidate);
      if (!p.result.valid()) return;
    }
    if (p.request.wanted > evaluation_stage::checked) {
      if (!time_workloads(bench, p, candidate, p.request.wanted == evaluation_stage::confirmed)) return;
      if (!judge_times(bench, p, candidate.kind())) return;
      if (p.result.stage >= evaluation_stage::confirmed) time_other_baselines(bench, p, candidate);
      if (!p.result.valid()) return;
      // Programs that are timed briefly alone are many, and this takes another process.
      if (watches && !refuses && p.result.stage >= evaluation_stage::timed_full)
        watch_own_kernels(bench, p, candidate);
      p.timed_s = device.seconds();
      candidate.workers().replace();
    }
    // Others last of all: another process for the timing would cost a context for every candidate.
    if (!ends_after_checks && !check_workloads(bench, p, candidate, true)) return;
    if (p.result.stage >= evaluation_stage::timed_full)
      p.profile = bench.profile_call(p.built, p.request.stop);
  };
  try {
    climb();
  } catch (const error& failure) {
    candidate.restart();
    if (!speaks_of_room(failure)) throw;
    const auto workload = bench.largest_visible();
    fail(p, workload, bench.subject().workloads[workload], left_no_room(failure));
  } catch (...) {
    candidate.restart();
    throw;
  }
  candidate.restart();
  tell_suite_rule(p.result, p.by_suite);
  if (p.no_room) bench.require_room(*p.no_room);
  if (p.machine) require_order(bench.canary(), "device");
  account(p, device);
}

// Where the time went in which nobody else could measure.
void cuda_fitness::state::account(evaluation_state& p, const gpu_bench::hold& device) {
  const double held = device.seconds();
  const auto& spent = device.spent();
  p.result.cost.device_s += held;
  tell_parts(p.result.cost, spent);
  auto& context = p.result.context;
  const auto share = [&](double seconds) { return fmt::format("{:.3f}", held > 0 ? seconds / held : 0); };
  context["foreign_processes"] = device.foreign();
  context["held_s"] = fmt::format("{:.4f}", held);
  context["held_calls"] = std::to_string(spent.calls);
  context["held_processes"] = std::to_string(spent.processes);
  context["held_share_kernels"] = share(spent.kernels_s);
  context["held_share_around_kernels"] = share(spent.calls_s - spent.kernels_s);
  context["held_share_workers"] = share(spent.workers_s);
  context["held_share_loads"] = share(spent.loads_s);
  context["held_share_starts"] = share(spent.starts_s);
  context["held_share_ends"] = share(spent.ends_s);
  context["held_share_first_calls"] = share(spent.first_calls_s);
  if (p.timed_s > 0)
    context["held_phases"] = fmt::format("checks {:.3f} s, times {:.3f} s, rest {:.3f} s", p.checked_s,
                                         p.timed_s - p.checked_s, held - p.timed_s);
}

content_id cuda_fitness::state::key_of(const program& candidate) const {
  return result_key("cuda", protocol_of(bench.subject()), candidate, bench.identity(candidate));
}

void cuda_fitness::state::finish(evaluation_state& p) const {
  auto& e = p.result;
  if (p.built.ok) {
    e.measures = bench.measures(p.built);
    e.measures.insert(p.profile.measures.begin(), p.profile.measures.end());
    if (const auto found = e.context.find("too_short"); e.valid() && found != e.context.end())
      e.feedback +=
          "\nworkload " + found->second +
          ": too short for this mode. The stated time is the resolution of the clock, and the speedup is at "
          "least the stated one. Programs with launch lines are timed by a finer clock.";
    if (e.valid()) e.feedback += "\n" + bench.profile(p.built, e) + p.profile.text;
  }
}

evaluation_state cuda_fitness::state::judge(const evaluation_request& request) {
  return attempted<evaluation_state>(request, is_doubtful, [&](const evaluation_state* first) {
    evaluation_state p{{request, bench.blank()}};
    p.sparing = first != nullptr && first->no_room.has_value();
    p.result.protocol = protocol_of(bench.subject());
    p.call_ns.assign(bench.subject().workloads.size(), 0);
    p.resolution_ns.assign(bench.subject().workloads.size(), 0);
    try {
      run_cascade(p);
    } catch (const error& failure) {
      if (failure.code() != error_code::environment) throw;
      // A busy machine costs time, not the run.
      const bool busy = dynamic_cast<const cuda::unmeasurable*>(&failure) != nullptr;
      if (busy && first == nullptr && request.second_try) {
        p.again = true;
        return p;
      }
      // There may be several devices: say which.
      throw error(
          failure.code(), p.result.device + ": " + failure.message(), failure.place(),
          failure.hint().empty()
              ? "nvidia-smi and the Xid messages in the system log say more; continue with `kevo resume`"
              : failure.hint());
    }
    return p;
  });
}

cuda_fitness::cuda_fitness(std::shared_ptr<const task> t, cuda_settings settings)
    : state_(std::make_unique<state>(std::move(t), std::move(settings))) {}
cuda_fitness::cuda_fitness(cuda_fitness&&) noexcept = default;
cuda_fitness& cuda_fitness::operator=(cuda_fitness&&) noexcept = default;
cuda_fitness::~cuda_fitness() = default;

evaluation cuda_fitness::evaluate(const evaluation_request& request) {
  return answer(*state_, request);
}

std::string cuda_fitness::describe() const {
  return state_->bench.describe();
}

}  // namespace kevo
