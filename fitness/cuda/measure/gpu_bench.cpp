#include "fitness/cuda/measure/gpu_bench.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <kevo/error.hpp>

#include "fitness/cascade/cascade.hpp"
#include "fitness/cuda/hosted/entry.hpp"
#include "fitness/cuda/launch/plan_measures.hpp"
#include "fitness/cuda/measure/device_task.hpp"
#include "fitness/cuda/measure/quiet_device.hpp"
#include "fitness/cuda/wire/worker_protocol.hpp"
#include "fitness/oracle/element_type.hpp"
#include "fitness/oracle/generate.hpp"
#include "fitness/sandbox/sandbox.hpp"

namespace kevo::cuda {
namespace {

// A candidate that is timed fully needs two processes (checks; times), a third one for the share of its
// kernels if it has any, or more for the times. Behind the times, those of the next one start, several beside
// each other. Each has some 600 MB of the device.
constexpr std::size_t python_workers_ahead = 5;
constexpr std::size_t python_workers_ahead_of_small_device = 4;
constexpr std::uint64_t small_device_bytes = 24ULL << 30U;
// A device that traps takes some tenths of a second to say so.
constexpr double least_limit_s = 1.5;

std::uint64_t most_workspace_bytes(const std::vector<plan>& plans) {
  std::uint64_t most = 0;
  for (const auto& p : plans) most = std::max(most, workspace_bytes(p));
  return most;
}

}  // namespace

gpu_bench::gpu_bench(std::shared_ptr<const task> t, cuda_settings settings)
    : task_(std::move(t)), settings_(std::move(settings)) {
  if (!task_) throw error(error_code::usage, "a CUDA fitness function needs a task");
  require_runnable_on_device(*task_);
  std::uint64_t least = ~std::uint64_t{0};
  std::uint64_t most = 0;
  for (std::size_t i = 0; i < task_->workloads.size(); ++i) {
    if (task_->workloads[i].hidden) continue;
    const auto bytes = call_bytes(*task_, task_->workloads[i]);
    if (bytes < least) smallest_ = i;
    if (bytes > most) largest_ = i;
    least = std::min(least, bytes);
    most = std::max(most, bytes);
  }
}

gpu_bench::~gpu_bench() = default;

gpu_bench::hold::hold(gpu_bench& bench, const std::stop_token& stop, const wait_listener& listener)
    : bench_(&bench) {
  {
    std::unique_lock lock(bench_->holding_);
    if (!bench_->freed_.wait(lock, stop, [this] { return !bench_->held_; }))
      throw error(error_code::interrupted, "stopped while it waited for the device");
    bench_->held_ = true;
  }
  try {
    lock_.emplace(lock_name(bench_->device_->facts()), stop, listener);
    start_ = std::chrono::steady_clock::now();
    const auto& settings = bench_->settings_;
    foreign_ = await_quiet_device([this] { return bench_->device_->users(); }, settings.foreign,
                                  settings.foreign_s, stop);
  } catch (...) {
    give_back();
    throw;
  }
  bench_->spent_ = {};
}
double gpu_bench::hold::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}
gpu_bench::hold::~hold() {
  give_back();
}
void gpu_bench::hold::give_back() noexcept {
  lock_.reset();
  {
    const std::scoped_lock lock(bench_->holding_);
    bench_->held_ = false;
  }
  bench_->freed_.notify_one();
}

std::unique_ptr<worker_source> gpu_bench::workers_for(worker_options options, std::size_t ahead,
                                                      std::uint64_t arena_bytes) {
  options.sandbox = settings_.sandbox;
  auto workers = std::make_unique<worker_source>(*device_, std::move(options), arena_bytes, ahead);
  workers->account(&spent_);
  return workers;
}

// A context with one queue starts in less than half the time. A program that names streams in no way has no
// use for more, and one that hides them only delays its own kernels.
worker_source& gpu_bench::hosted_workers(bool concurrent) {
  auto& workers = concurrent ? concurrent_workers_ : hosted_workers_;
  if (workers) return *workers;
  worker_options options;
  std::size_t ahead = 1;
  if (python_) {
    options = python_->workers_for(python_role::candidate, concurrent);
    const bool small = device_->facts().memory_bytes < small_device_bytes;
    ahead = small || concurrent ? python_workers_ahead_of_small_device : python_workers_ahead;
  }
  options.hosted = true;
  if (!python_) options.memory_bytes = settings_.limits.memory_bytes;  // else with room for the parameters
  workers = workers_for(std::move(options), ahead, arena_of_worker_);
  return *workers;
}

void gpu_bench::settle_candidates() {
  for (const auto* workers : {&candidate_workers_, &wide_workers_, &hosted_workers_, &concurrent_workers_}) {
    if (*workers) (*workers)->settle();
  }
}

void gpu_bench::start_none_ahead(bool wanted) {
  for (const auto* workers : {&candidate_workers_, &wide_workers_, &hosted_workers_, &concurrent_workers_}) {
    if (*workers) (*workers)->start_none_ahead(wanted);
  }
}

program_runner gpu_bench::run_candidate(const built_program& built) {
  auto* workers = candidate_workers_.get();
  if (built.kind == program_kind::hosted) {
    workers = &hosted_workers(built.concurrent || all_concurrent_);
  } else if (most_workspace_bytes(built.plans) > usual_workspace_bytes) {
    if (!wide_workers_) wide_workers_ = workers_for({}, 1, arena_of_worker_);
    workers = wide_workers_.get();
  }
  return {task_, *workers, image_of(built), contents_, rng(secret_seed())};
}

program_image gpu_bench::image_of(const built_program& built) const {
  return {.kind = built.kind,
          .code = built.code,
          .object = built.object.object,
          .nothing = python_ ? python_->nothing() : "",
          .concurrent = built.concurrent,
          .plans = built.plans};
}

program_runner& gpu_bench::beside(const program_runner& candidate, gpu_baseline& baseline) {
  if (!python_ || all_concurrent_ || !candidate.concurrent()) return *baseline.usual.runner;
  if (!baseline.concurrent.runner) baseline.concurrent = make_baseline(baseline.built, true);
  return *baseline.concurrent.runner;
}

program_runner gpu_bench::run_watched(const built_program& built, const program& source) {
  auto watched = built;
  watched.object.object = python_->watched_object_of(source);
  return run_candidate(watched);
}

program_runner& gpu_bench::empty() {
  if (!empty_) {
    worker_options options;
    options.hosted = options.trusted = true;
    empty_workers_ = workers_for(std::move(options), 0, arena_of_worker_);
    program_image nothing{.kind = program_kind::empty};
    for (const auto& w : task_->workloads) nothing.plans.push_back(hosted_plan(*task_, w));
    empty_ = std::make_unique<program_runner>(task_, *empty_workers_, std::move(nothing), contents_,
                                              rng(secret_seed()), trust::baseline);
  }
  return *empty_;
}

// Arenas of programs in Python hold inputs alone, as many as an arena with all buffers has calls.
std::uint32_t gpu_bench::room_of_interval(const program_runner& candidate, const gpu_baseline& against,
                                          std::size_t workload) const {
  if (!python_) return std::min(candidate.room(workload), against.usual.runner->room(workload));
  const auto each = std::max<std::uint64_t>(call_bytes(*task_, task_->workloads[workload]), 1);
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>((arena_ - 16384) / each, 1, most_slots));
}

pair_timer gpu_bench::timer(program_runner& candidate, gpu_baseline& against, std::size_t workload,
                            double candidate_ns) {
  const bool cold = task_->workloads[workload].cache == "cold";
  const auto contents = contents_[workload].timed;
  if (candidate.kind() == program_kind::declared) {
    pair_timer by_events(
        candidate, *against.usual.runner, workload,
        plan_readings(candidate_ns, against.call_ns[workload], cold,
                      against.usual.runner->kind() != program_kind::declared, contents,
                      std::min(candidate.room(workload), against.usual.runner->room(workload))),
        call_limit(workload));
    by_events.allow_first(first_call_limit(workload, against.usual.runner->kind()));
    return by_events;
  }
  const auto room = room_of_interval(candidate, against, workload);
  // Further readings have contents of their own, which a process sees no more than once either.
  const auto further =
      settings_.both_times ? plan_further(contents, room, settings_.host_time) : further_plan();
  if (settings_.host_time && further.host_pairs == 0)
    throw error(error_code::environment,
                "host times need three sets of input data of workload '" + task_->workloads[workload].uuid +
                    "', and the device has no room for them",
                {.key = "fitness.time"}, "use smaller workloads, or write time: device");
  const bool starts_slowly = python_ != nullptr || settings_.both_times;
  auto plan = (starts_slowly ? plan_python_intervals : plan_intervals)(
      candidate_ns, against.call_ns[workload], cold, contents - further.contents(), room);
  plan.further = further;
  pair_timer by_intervals(candidate, beside(candidate, against), workload, plan, call_limit(workload));
  by_intervals.use_intervals(python_ ? nullptr : &empty());
  by_intervals.allow_first(first_call_limit(workload, program_kind::hosted));
  return by_intervals;
}

std::optional<call_failure> gpu_bench::canary() {
  baseline().usual.runner->restart();
  return baseline().usual.runner->check(smallest_, 0, std::chrono::seconds(60)).failure;
}

std::optional<call_failure> gpu_bench::check_gates(const built_program& built, const std::stop_token& stop) {
  if (built.kind == program_kind::hosted) {
    return call_failure{outcome::launch_failed,
                        "the checks under fitness.gates need a program with launch lines",
                        checkers() + " cannot watch a hosted program"};
  }
  return gates_->check({&built.code, &built.plans[smallest_], smallest_}, device_->facts(), stop);
}

// The largest workload that goes through a file in a moment.
std::size_t gpu_bench::profiled_workload() const {
  constexpr std::uint64_t most_bytes = 256U << 20U;
  std::size_t chosen = smallest_;
  for (std::size_t i = 0; i < task_->workloads.size(); ++i) {
    const auto bytes = call_bytes(*task_, task_->workloads[i]);
    if (!task_->workloads[i].hidden && bytes <= most_bytes &&
        bytes > call_bytes(*task_, task_->workloads[chosen]))
      chosen = i;
  }
  return chosen;
}

gpu_bench::call_profile gpu_bench::profile_call(const built_program& built, const std::stop_token& stop) {
  if (!gates_->profiles()) return {};
  if (built.kind == program_kind::hosted) return {"no profile: ncu cannot watch a hosted program\n", {}};
  const auto workload = profiled_workload();
  const auto figures =
      gates_->profile({&built.code, &built.plans[workload], workload}, device_->facts(), stop);
  if (figures.there) {
    return {
        fmt::format("profile of {} by ncu: {}\n", task_->workloads[workload].uuid, cuda::describe(figures)),
        measures_of(figures)};
  }
  const auto known = measures(built);
  const auto value = [&](const char* name) {
    const auto found = known.find(name);
    return found == known.end() ? 0 : found->second;
  };
  return {
      fmt::format("profile by the driver ({}): {:.0f} registers, {:.0f} bytes of shared memory, occupancy "
                  "{:.0f} %\n",
                  figures.missing, value("registers"), value("shared_bytes"), 100 * value("occupancy")),
      {}};
}

std::chrono::nanoseconds gpu_bench::call_limit(std::size_t workload) const {
  const double known = 1e-9 * baselines_.front().call_ns[workload];
  const double seconds =
      std::max(std::min(std::max(least_limit_s, 50 * known), settings_.limits.call_s), 2 * known);
  return std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
}

std::chrono::nanoseconds gpu_bench::first_call_limit(std::size_t workload, program_kind kind) const {
  const auto usual = call_limit(workload);
  if (kind == program_kind::declared) return usual;
  return std::max(usual, std::chrono::nanoseconds(static_cast<std::int64_t>(settings_.limits.call_s * 1e9)));
}

std::uint32_t gpu_bench::contents_to_check() const {
  const auto visible = static_cast<std::uint32_t>(std::count_if(
      task_->workloads.begin(), task_->workloads.end(), [](const workload& w) { return !w.hidden; }));
  return std::clamp<std::uint32_t>((5 + visible - 1) / visible, 2, 5);
}

std::map<std::string, double> gpu_bench::measures(const built_program& built) const {
  if (python_) return built.measures;
  if (built.kind == program_kind::hosted)
    return {{"code_bytes", static_cast<double>(built.object.object.size())}};
  auto all = measures_of_module(built.code);
  for (const auto& [name, value] : measures_of_plan(built.plans[largest_], built.code, facts_))
    all[name] = value;
  return all;
}

std::string gpu_bench::profile(const built_program& built, const evaluation& e) const {
  std::string text;
  if (built.kind == program_kind::declared) {
    text = describe_resources(built.code) +
           fmt::format("launched on {}:\n", task_->workloads[largest_].uuid) +
           describe_launches(built.plans[largest_], built.code, facts_);
  }
  for (std::size_t i = 0; i < e.workloads.size(); ++i) {
    const auto& w = e.workloads[i];
    if (w.hidden || !(w.time_ns > 0)) continue;
    const double flops = cost_of(*task_, task_->cost.flops, i);
    const double bytes = cost_of(*task_, task_->cost.bytes, i);
    if (flops > 0)
      text += fmt::format("{}: {:.3g} GFLOP/s of the task's operations\n", w.uuid, flops / w.time_ns);
    if (bytes > 0) text += fmt::format("{}: {:.3g} GB/s of the task's bytes\n", w.uuid, bytes / w.time_ns);
  }
  return text;
}

evaluation gpu_bench::blank() const {
  evaluation e;
  e.baseline = baselines_.front().name;
  e.device = device_->facts().name;
  e.backend = python_ ? "torch" : "cuda";
  e.context["gpu"] = visible_name(device_->facts().uuid);
  e.context["architecture"] = facts_.architecture;
  e.context["driver"] = std::to_string(device_->facts().driver);
  e.context.insert(machine_.begin(), machine_.end());
  if (python_) {
    e.context["pytorch"] = python_->version();
    e.context["python"] = python_->python();
    if (!remark_.empty()) e.context["reference"] = remark_;
  } else {
    e.context["compiler"] = compiler_->identity();
    e.context["flags"] = fmt::format("{}", fmt::join(settings_.flags, " "));
  }
  e.context["sandbox"] = describe_layers(settings_.sandbox);
  if (auto names = left_out(); !names.empty()) e.context["baselines_left_out"] = std::move(names);
  e.workloads = blank_results(*task_);
  return e;
}

std::string gpu_bench::describe() const {
  if (!device_) return "cuda: not started yet";
  return fmt::format("cuda: {} ({}), driver {}, {}", device_->facts().name, facts_.architecture,
                     device_->facts().driver, describe_layers(settings_.sandbox));
}

}  // namespace kevo::cuda
