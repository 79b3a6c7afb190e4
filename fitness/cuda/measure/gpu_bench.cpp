#include "fitness/cuda/measure/gpu_bench.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <kevo/annotation.hpp>
#include <kevo/error.hpp>
#include <kevo/evaluate/statistics.hpp>

#include "fitness/cuda/hosted/entry.hpp"
#include "fitness/cuda/launch/plan_measures.hpp"
#include "fitness/cuda/measure/device_task.hpp"
#include "fitness/cuda/measure/gpu_probe.hpp"
#include "fitness/cuda/measure/quiet_device.hpp"
#include "fitness/cuda/worker/protocol.hpp"
#include "fitness/oracle/element_type.hpp"
#include "fitness/oracle/generate.hpp"
#include "fitness/sandbox/sandbox.hpp"

namespace kevo::cuda {
namespace {

// A device that traps takes some tenths of a second to say so.
constexpr double least_limit_s = 1.5;

// Contents of the timed calls of a workload, so that one process mostly does for an evaluation: sixteen
// blocks of two readings, of five calls each if they are short and cold. Of many short warm calls they do for
// six blocks.
std::uint32_t contents_for(std::uint64_t bytes) {
  return bytes < (8U << 20U) ? 400 : bytes < (128U << 20U) ? 180 : 40;
}

worker_options options_for(const cuda_settings& settings) {
  worker_options options;
  options.sandbox = settings.sandbox;
  return options;
}

built_program refused(outcome why, std::string reason, std::string feedback = {}) {
  built_program result;
  result.outcome = why;
  result.feedback = feedback.empty() ? reason : std::move(feedback);
  result.reasons.push_back(std::move(reason));
  return result;
}

bool narrow_matrix_type(const task& t) {
  return std::any_of(t.inputs.begin(), t.inputs.end(), [](const tensor& input) {
    const auto* type = find_element_type(input.dtype);
    return type != nullptr && type->size <= 2 && !input.scalar;
  });
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

void gpu_bench::prepare(std::stop_token stop) {
  const std::lock_guard lock(preparing_);
  if (prepared_) return;
  baselines_.clear();
  baseline_workers_.clear();
  candidate_workers_.reset();
  gates_ = std::make_unique<device_gates>(task_, settings_.gates, settings_.sandbox);
  empty_.reset();
  empty_workers_.reset();
  hosted_workers_.reset();
  left_out_.clear();
  device_ = std::make_unique<device_client>(settings_.device);
  if (!compiler_) {
    cuda_compiler_settings compiling;
    compiling.sandbox = settings_.sandbox;
    compiling.limits.wall_s = settings_.limits.build_s;
    if (!settings_.cache_dir.empty()) compiling.cache_dir = settings_.cache_dir + "/builds";
    compiler_ = std::make_unique<cuda_compiler>(compiling);
  }
  if (!hosted_) {
    hosted_compiler_settings compiling;
    compiling.nvcc = settings_.nvcc;
    compiling.sandbox = settings_.sandbox;
    compiling.wall_s = 2 * settings_.limits.build_s;  // two compilers, one after the other
    hosted_ = std::make_unique<hosted_compiler>(compiling);
  }
  facts_ = facts_for_plans(device_->facts(), settings_.limits.workspace_bytes);
  device_->set_kit(compile_trusted_kernels(*compiler_, facts_.architecture, stop));
  describe_reference(stop);

  std::vector<std::pair<const kevo::baseline*, built_program>> built;
  for (const auto& b : task_->baselines) {
    auto one = build(b.source, true, stop, b.link);
    if (one.ok) {
      built.emplace_back(&b, std::move(one));
    } else if (b.optional) {
      leave_out(b.name, one.reasons.empty() ? one.feedback : one.reasons.front());
    } else {
      throw error(error_code::input, "the baseline '" + b.name + "' does not build: " + one.feedback,
                  {.file = task_->file, .key = "baselines"});
    }
  }
  if (built.empty())
    throw error(error_code::input, "no baseline builds on this machine", {.file = task_->file});

  const hold device(*this, stop);
  ceilings_ =
      ceilings_of_device(*device_, settings_.cache_dir.empty() ? user_cache_folder() : settings_.cache_dir);
  make_contents();
  // Intervals of many calls are for tasks that have hosted programs. Besides the baselines there are declared
  // candidates, hosted ones, the empty program.
  const bool hosted = std::any_of(built.begin(), built.end(),
                                  [](const auto& one) { return one.second.kind == program_kind::hosted; }) ||
                      std::any_of(task_->seeds.begin(), task_->seeds.end(),
                                  [](const program& one) { return is_hosted(one); });
  arena_ = arena_for(hosted ? built.size() + 3 : 0);
  for (const auto& [which, program] : built) add_baseline(*which, program);
  const auto first = std::find_if(built.begin(), built.end(),
                                  [](const auto& one) { return one.second.kind == program_kind::declared; });
  if (first != built.end()) {
    const auto& known = first->second;
    gates_->try_out({&known.code, &known.plans[smallest_], smallest_}, device_->facts(), stop);
  }
  candidate_workers_ = std::make_unique<worker_source>(*device_, options_for(settings_), arena_, 1);
  candidate_workers_->account(&spent_);
  identity_ = fmt::format("{} {} {} {} {} {} {} determinism {} {}", to_string(id_of(*task_)),
                          compiler_->identity(), hosted_->identity(), fmt::join(settings_.flags, " "),
                          device_->facts().uuid, device_->facts().driver, describe_layers(settings_.sandbox),
                          settings_.gates.determinism, gates_->describe());
  prepared_ = true;
}

void gpu_bench::leave_out(const std::string& name, const std::string& why) {
  left_out_ += (left_out_.empty() ? "" : "; ") + name + " (" + why.substr(0, why.find('\n')) + ")";
}

// Room for one call of any workload; for intervals as many calls of visible ones as 2 ms hold, as far as all
// arenas together have room for them in a quarter of the device.
std::uint64_t gpu_bench::arena_for(std::size_t arenas) const {
  constexpr double interval_ns = 2.2e6;
  std::uint64_t largest = 0;
  std::uint64_t together = 0;
  for (std::size_t i = 0; i < task_->workloads.size(); ++i) {
    const auto bytes = call_bytes(*task_, task_->workloads[i]);
    largest = std::max(largest, bytes);
    if (task_->workloads[i].hidden) continue;
    const double most = std::min<double>(contents_[i].timed, most_slots);
    const double calls =
        std::clamp(interval_ns / std::max(speed_of_light_ns(i), 500.0), 1.0, std::max(most, 1.0));
    together = std::max(together, static_cast<std::uint64_t>(std::ceil(calls)) * bytes);
  }
  const std::uint64_t usual = largest + largest / 8 + settings_.limits.workspace_bytes + (64U << 20U);
  if (arenas == 0) return usual;
  return std::max(usual, std::min(together + (1U << 20U), device_->facts().free_bytes / (4 * arenas)));
}

void gpu_bench::add_baseline(const kevo::baseline& b, const built_program& program) {
  auto options = options_for(settings_);
  options.hosted = program.kind == program_kind::hosted;
  options.trusted = options.hosted;
  options.folders = program.object.folders;
  try {
    auto workers = std::make_unique<worker_source>(*device_, options, arena_, 1);
    workers->account(&spent_);
    gpu_baseline next{
        b.name,
        std::make_unique<program_runner>(
            task_, *workers, program_image{program.kind, program.code, program.object.object, program.plans},
            contents_, rng(secret_seed()), trust::baseline),
        {}};
    check_baseline(next);
    baseline_workers_.push_back(std::move(workers));
    baselines_.push_back(std::move(next));
  } catch (const error& failure) {
    // A library that is not in order here is no reason to measure nothing.
    if (!b.optional || !options.hosted || failure.code() == error_code::interrupted) throw;
    leave_out(b.name, failure.message());
  }
}

void gpu_bench::describe_reference(std::stop_token stop) {
  const error_place place{.file = task_->file, .key = "reference"};
  const auto& source = task_->reference->source;
  const auto lines = read_launch_lines(source);
  if (const auto* failure = std::get_if<launch_failure>(&lines))
    throw error(error_code::input, "the reference: " + failure->reason, place);
  const auto& declared = std::get<declared_launch>(lines);
  const auto names = kernel_names(declared, reference_signature(*task_, task_->workloads.front()), facts_);
  if (const auto* failure = std::get_if<launch_failure>(&names))
    throw error(error_code::input, "the reference: " + failure->reason, place);
  const auto built = compiler_->build(
      {source, std::get<std::vector<std::string>>(names), facts_.architecture, settings_.flags},
      std::move(stop));
  if (!built.ok)
    throw error(error_code::input, "the reference does not compile: " + built.diagnostics, place);
  device_->set_task(describe_task(*task_, built.module, declared, facts_));
}

// Each workload gets what it wants, as long as there is room: those that want little leave what they do not
// take to the others.
void gpu_bench::make_contents() {
  const auto count = task_->workloads.size();
  contents_.assign(count, {});
  std::vector<contents_wanted> wanted(count);
  std::vector<double> bytes(count);
  std::vector<std::size_t> order(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto& w = task_->workloads[i];
    wanted[i].workload = static_cast<std::uint32_t>(i);
    wanted[i].timed = w.hidden ? 1 : contents_for(call_bytes(*task_, w));
    wanted[i].varied = w.hidden ? 2 : 4;
    bytes[i] = static_cast<double>(wanted[i].timed + wanted[i].varied) *
               static_cast<double>(content_bytes(*task_, w));
    order[i] = i;
  }
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return bytes[a] < bytes[b]; });
  double room = settings_.pool_fraction * static_cast<double>(device_->facts().free_bytes);
  for (std::size_t n = 0; n < count; ++n) {
    const auto i = order[n];
    const double share = room / static_cast<double>(count - n);
    wanted[i].most_bytes = static_cast<std::uint64_t>(share);
    const auto made = device_->make(wanted[i]);
    if (!made.complaint.empty())
      throw error(error_code::input,
                  "the reference, on workload '" + task_->workloads[i].uuid + "', " + made.complaint,
                  {.file = task_->file, .key = "reference"});
    contents_[i] = {made.timed, made.varied};
    room -= std::min(share, bytes[i]);
  }
}

// A baseline must be right on every workload; its times set the limits of candidates.
void gpu_bench::check_baseline(gpu_baseline& baseline) {
  baseline.call_ns.assign(task_->workloads.size(), 0);
  for (std::size_t i = 0; i < task_->workloads.size(); ++i) {
    for (std::uint32_t n = 0; n < 3; ++n) {
      const auto time = baseline.program->check(i, n, std::chrono::seconds(60));
      if (time.failure) {
        throw error(time.failure->machine ? error_code::environment : error_code::input,
                    fmt::format("baseline '{}' fails on workload '{}': {} {}", baseline.name,
                                task_->workloads[i].uuid, time.failure->reason, time.failure->detail),
                    {.file = task_->file, .key = "baselines"});
      }
      auto& known = baseline.call_ns[i];
      known = known > 0 ? std::min(known, time.event_ns) : time.event_ns;
      if (contents_[i].varied < 2 && n == 1) break;
    }
  }
}

built_program gpu_bench::build_hosted(const program& source, bool trusted, std::stop_token stop,
                                      const std::vector<std::string>& link) {
  try {
    static_cast<void>(parse_annotations(source));
  } catch (const error& failure) {
    return refused(outcome::launch_failed, failure.message());
  }
  auto object =
      hosted_->build(*task_, source, facts_.architecture, settings_.flags, trusted, link, std::move(stop));
  if (!object.ok) {
    return refused(outcome::build_failed,
                   object.reasons.empty() ? "does not compile" : object.reasons.front(), object.diagnostics);
  }
  built_program result;
  result.kind = program_kind::hosted;
  for (const auto& w : task_->workloads) result.plans.push_back(hosted_plan(*task_, w));
  result.object = std::move(object);
  result.ok = true;
  result.outcome = outcome::valid;
  return result;
}

built_program gpu_bench::build(const program& source, bool trusted, std::stop_token stop,
                               const std::vector<std::string>& link) {
  if (is_hosted(source)) return build_hosted(source, trusted, std::move(stop), link);
  const auto lines = read_launch_lines(source);
  if (const auto* failure = std::get_if<launch_failure>(&lines))
    return refused(outcome::launch_failed, failure->reason);
  const auto& declared = std::get<declared_launch>(lines);
  const auto names = kernel_names(declared, signature_of(*task_, task_->workloads[smallest_]), facts_);
  if (const auto* failure = std::get_if<launch_failure>(&names))
    return refused(outcome::launch_failed, failure->reason);
  auto compiled = compiler_->build(
      {source, std::get<std::vector<std::string>>(names), facts_.architecture, settings_.flags},
      std::move(stop));
  if (!compiled.ok) {
    auto result = refused(outcome::build_failed,
                          compiled.reasons.empty() ? "does not compile" : compiled.reasons.front(),
                          compiled.diagnostics);
    return result;
  }
  if (!trusted && !settings_.allow_globals && compiled.module.has_writable_globals()) {
    return refused(outcome::rejected, "keeps state in writable device variables",
                   "the device variable '" + compiled.module.writable_globals.front().name +
                       "' could carry results from one call to the next; use a workspace");
  }
  built_program result;
  for (const auto& w : task_->workloads) {
    auto resolved = resolve(declared, signature_of(*task_, w), compiled.module, facts_);
    if (const auto* failure = std::get_if<launch_failure>(&resolved)) {
      const std::string reason = w.hidden ? "a hidden workload failed" : failure->reason;
      return refused(outcome::launch_failed, reason);
    }
    result.plans.push_back(std::get<plan>(std::move(resolved)));
  }
  result.ok = true;
  result.outcome = outcome::valid;
  result.code = std::move(compiled.module);
  return result;
}

gpu_bench::hold::hold(gpu_bench& bench, const std::stop_token& stop) : bench_(&bench) {
  while (!bench_->measuring_.try_lock_for(std::chrono::milliseconds(100))) {
    if (stop.stop_requested()) throw error(error_code::interrupted, "stopped while it waited for the device");
  }
  try {
    bench_->device_->lock(stop);
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
// Also what was not taken: unlocking is no mistake then.
void gpu_bench::hold::give_back() noexcept {
  try {
    bench_->device_->unlock();
  } catch (const error&) {  // its process has ended, and the lock with it
  }
  bench_->measuring_.unlock();
}

program_runner gpu_bench::run_candidate(const built_program& built) {
  auto* workers = candidate_workers_.get();
  if (built.kind == program_kind::hosted) {
    if (!hosted_workers_) {
      auto options = options_for(settings_);
      options.hosted = true;
      options.memory_bytes = settings_.limits.memory_bytes;
      hosted_workers_ = std::make_unique<worker_source>(*device_, options, arena_, 1);
      hosted_workers_->account(&spent_);
    }
    workers = hosted_workers_.get();
  }
  return {task_, *workers, program_image{built.kind, built.code, built.object.object, built.plans}, contents_,
          rng(secret_seed())};
}

program_runner& gpu_bench::empty() {
  if (!empty_) {
    auto options = options_for(settings_);
    options.hosted = options.trusted = true;
    empty_workers_ = std::make_unique<worker_source>(*device_, options, arena_, 0);
    empty_workers_->account(&spent_);
    program_image nothing{program_kind::empty, {}, {}, {}};
    for (const auto& w : task_->workloads) nothing.plans.push_back(hosted_plan(*task_, w));
    empty_ = std::make_unique<program_runner>(task_, *empty_workers_, std::move(nothing), contents_,
                                              rng(secret_seed()), trust::baseline);
  }
  return *empty_;
}

pair_timer gpu_bench::timer(program_runner& candidate, gpu_baseline& against, std::size_t workload,
                            double candidate_ns) {
  const bool cold = task_->workloads[workload].cache == "cold";
  const auto contents = contents_[workload].timed;
  if (candidate.kind() == program_kind::declared) {
    return {candidate, *against.program, workload,
            plan_readings(candidate_ns, against.call_ns[workload], cold, contents), call_limit(workload)};
  }
  const auto each = std::max<std::uint64_t>(call_bytes(*task_, task_->workloads[workload]), 1);
  const auto room =
      static_cast<std::uint32_t>(std::clamp<std::uint64_t>((arena_ - 16384) / each, 1, most_slots));
  return {candidate,
          *against.program,
          empty(),
          workload,
          plan_intervals(candidate_ns, against.call_ns[workload], cold, contents, room),
          call_limit(workload)};
}

std::optional<call_failure> gpu_bench::canary() {
  baseline().program->restart();
  return baseline().program->check(smallest_, 0, std::chrono::seconds(60)).failure;
}

std::optional<call_failure> gpu_bench::check_gates(const built_program& built, const std::stop_token& stop) {
  if (built.kind == program_kind::hosted) {
    return call_failure{outcome::launch_failed, "the gates that are asked for need launch lines",
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

std::uint32_t gpu_bench::contents_to_check() const {
  const auto visible = static_cast<std::uint32_t>(std::count_if(
      task_->workloads.begin(), task_->workloads.end(), [](const workload& w) { return !w.hidden; }));
  return std::clamp<std::uint32_t>((5 + visible - 1) / visible, 2, 5);
}

double gpu_bench::speed_of_light_ns(std::size_t workload) const {
  const auto& device = device_->facts();
  // Matrix units do 4096 operations a cycle on 16-bit types of compute capability 9 (datasheet, not
  // measured).
  const double matrix = 4096e3 * device.multiprocessors * device.clock_khz;
  const double rate =
      narrow_matrix_type(*task_) && device.major >= 9 ? matrix : ceilings_.float32_flops_per_s;
  const double flops = rate > 0 ? cost_of(*task_, task_->cost.flops, workload) / rate : 0;
  const double bandwidth = ceilings_.copy_bytes_per_s;
  const double bytes = bandwidth > 0 ? cost_of(*task_, task_->cost.bytes, workload) / bandwidth : 0;
  return 1e9 * std::max(flops, bytes);
}

// Deliberately generous: an honest record must never be called suspect. What fits the cache may be read
// several times as fast as memory, and float32 may be computed by matrix units in parts.
double gpu_bench::floor_ns(std::size_t workload) const {
  const auto& device = device_->facts();
  const double rate =
      (narrow_matrix_type(*task_) ? 8192e3 : 2048e3) * device.multiprocessors * device.clock_khz;
  const double flops = rate > 0 ? cost_of(*task_, task_->cost.min_flops, workload) / rate : 0;
  const double bytes = cost_of(*task_, task_->cost.bytes, workload);
  const bool cached =
      task_->workloads[workload].cache != "cold" || bytes < static_cast<double>(device.l2_bytes);
  const double bandwidth = device.peak_bytes_per_s() * (cached ? 4 : 1);
  return 0.9e9 * std::max(flops, bandwidth > 0 ? bytes / bandwidth : 0);
}

std::map<std::string, double> gpu_bench::measures(const built_program& built) const {
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
  e.backend = "cuda";
  e.context["architecture"] = facts_.architecture;
  e.context["driver"] = std::to_string(device_->facts().driver);
  e.context["compiler"] = compiler_->identity();
  e.context["flags"] = fmt::format("{}", fmt::join(settings_.flags, " "));
  e.context["sandbox"] = describe_layers(settings_.sandbox);
  if (!left_out_.empty()) e.context["baselines_left_out"] = left_out_;
  e.workloads = blank_results(*task_);
  return e;
}

std::string gpu_bench::describe() const {
  if (!device_) return "cuda: not started yet";
  return fmt::format("cuda: {} ({}), driver {}, {}", device_->facts().name, facts_.architecture,
                     device_->facts().driver, describe_layers(settings_.sandbox));
}

}  // namespace kevo::cuda
