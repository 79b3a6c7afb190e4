// What must be there before anything is timed: the device, the compilers, the reference, baselines that are
// right.

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include <kevo/error.hpp>
#include <kevo/task_id.hpp>

#include "fitness/cascade/cascade.hpp"
#include "fitness/cuda/hosted/entry.hpp"
#include "fitness/cuda/measure/device_task.hpp"
#include "fitness/cuda/measure/gpu_bench.hpp"
#include "fitness/cuda/measure/gpu_probe.hpp"
#include "fitness/cuda/wire/worker_protocol.hpp"
#include "fitness/oracle/generate.hpp"
#include "fitness/sandbox/sandbox.hpp"
#include "fitness/torch/compiled_baseline.hpp"

namespace kevo::cuda {
namespace {

// Whether a call of a hidden workload reads and writes 1 GiB more than one of any that is timed.
bool keeps_much_of_hidden_sizes(const task& t) {
  constexpr std::uint64_t much = 1ULL << 30U;
  std::uint64_t hidden = 0;
  std::uint64_t timed = 0;
  for (const auto& w : t.workloads) {
    auto& largest = w.hidden ? hidden : timed;
    largest = std::max(largest, call_bytes(t, w));
  }
  return hidden > timed + much;
}

}  // namespace

/// Those of the other devices, or new ones.
void gpu_bench::find_compilers() {
  if (!settings_.compilers) settings_.compilers = std::make_shared<shared_compilers>();
  shared_compilers& all = *settings_.compilers;
  const std::lock_guard lock(all.making);
  if (!all.device_code) {
    cuda_compiler_settings compiling;
    compiling.sandbox = settings_.sandbox;
    compiling.python = settings_.python;
    compiling.nvcc = settings_.nvcc;
    compiling.limits.wall_s = settings_.limits.build_s;
    if (!settings_.cache_dir.empty()) compiling.cache_dir = settings_.cache_dir + "/builds";
    all.device_code = std::make_shared<cuda_compiler>(compiling);
  }
  if (!all.hosted) {
    hosted_compiler_settings compiling;
    compiling.nvcc = settings_.nvcc;
    compiling.python = settings_.python;
    compiling.sandbox = settings_.sandbox;
    compiling.wall_s = 2 * settings_.limits.build_s;  // two compilers, one after the other
    all.hosted = std::make_shared<hosted_compiler>(compiling);
  }
  compiler_ = all.device_code;
  hosted_ = all.hosted;
}

// Of an earlier call that threw.
void gpu_bench::forget_attempt() {
  baselines_.clear();
  candidate_workers_.reset();
  wide_workers_.reset();
  empty_.reset();
  empty_workers_.reset();
  hosted_workers_.reset();
  concurrent_workers_.reset();
  reference_workers_.reset();
  left_out_.clear();
}

// Those that build here: at least one.
std::vector<gpu_bench::baseline_to_add> gpu_bench::build_baselines(std::stop_token stop) {
  std::vector<baseline_to_add> built;
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
  require_baseline(*task_, !built.empty());
  return built;
}

// All that the results depend on besides the program.
std::string gpu_bench::identity_of_bench() const {
  std::string identity = fmt::format(
      "{} {} {} {} {} {} {} determinism {} {}", to_string(id_of(*task_)), compiler_->identity(),
      hosted_->identity(), fmt::join(settings_.flags, " "), device_->facts().uuid, device_->facts().driver,
      describe_layers(settings_.sandbox), settings_.gates.determinism, gates_->describe());
  if (python_) {
    identity += python_->identity() + (settings_.own_kernel ? " own kernel" : "") +
                fmt::format(" share {}", settings_.own_kernel_share) +
                (settings_.host_time ? " host time" : "");
  }
  return identity;
}

double gpu_bench::prepare(std::stop_token stop, const wait_listener& listener) {
  const std::lock_guard lock(preparing_);
  if (prepared_) return 0;
  forget_attempt();
  gates_ = std::make_unique<device_gates>(task_, settings_.gates, settings_.sandbox);
  device_ = std::make_unique<device_client>(settings_.device);
  find_compilers();
  facts_ = facts_for_plans(device_->facts(), settings_.limits.workspace_bytes);
  if (is_python_task(*task_) && !python_) {
    python_ =
        std::make_unique<python_programs>(task_,
                                          python_settings{settings_.python, settings_.sandbox,
                                                          settings_.limits.memory_bytes, find_hosted_nvcc()},
                                          device_->facts(), settings_.pythons.get(), stop);
  }
  device_->set_trusted_kernels(compile_trusted_kernels(*compiler_, facts_.architecture, stop));
  const auto described = python_ ? describe_python_reference() : describe_reference(stop);
  device_->set_task(described);

  std::vector<baseline_to_add> built = build_baselines(stop);
  const hold device(*this, stop, listener);
  ceilings_ =
      ceilings_of_device(*device_, settings_.cache_dir.empty() ? user_cache_folder() : settings_.cache_dir);
  describe_machine();
  if (python_) start_reference(described.workloads);
  make_contents(described.workloads, stop);
  end_reference();
  // Intervals of many calls are for tasks that have hosted programs. Besides the baselines there are declared
  // candidates, hosted ones, the empty program.
  const bool hosted = std::any_of(built.begin(), built.end(),
                                  [](const auto& one) { return one.second.kind == program_kind::hosted; }) ||
                      std::any_of(task_->seeds.begin(), task_->seeds.end(),
                                  [](const program& one) { return is_hosted(one); });
  arena_ = arena_for(hosted ? built.size() + 3 : 0, built);
  arena_of_worker_ = python_ ? arena_of_inputs() : arena_;
  baselines_.reserve(built.size());  // timers keep pointers to them
  all_concurrent_ =
      std::any_of(built.begin(), built.end(), [](const auto& one) { return one.second.concurrent; });
  later_.clear();
  for (auto& [which, program] : built) {
    if (which != built.front().first && which->optional && torch::is_compiled(which->link)) {
      later_.emplace_back(which, std::move(program));
    } else {
      add_baseline(*which, program);
    }
  }
  const auto first = std::find_if(built.begin(), built.end(),
                                  [](const auto& one) { return one.second.kind == program_kind::declared; });
  if (first != built.end()) {
    const auto& known = first->second;
    gates_->try_out({&known.code, &known.plans[smallest_], smallest_}, device_->facts(), stop);
  }
  if (!python_) candidate_workers_ = workers_for({}, 1, usual_arena());
  identity_ = identity_of_bench();
  prepared_ = true;
  return device.lock().waited_s();
}

void gpu_bench::prepare_later_baselines() {
  for (const auto& [which, program] : std::exchange(later_, {})) add_baseline(*which, program);
}

std::string gpu_bench::left_out() const {
  const std::lock_guard lock(naming_);
  return left_out_;
}

void gpu_bench::leave_out(const std::string& name, const std::string& why) {
  const std::lock_guard lock(naming_);
  left_out_ += (left_out_.empty() ? "" : "; ") + name + " (" + why.substr(0, why.find('\n')) + ")";
}

// Room for one call of any workload with usual workspaces, and for as many calls of visible ones as one
// reading has at most. All of it is cleared before each call of a candidate, which takes longer than most
// kernels where it has the room that `limits.workspace_bytes` allows.
std::uint64_t gpu_bench::usual_arena() const {
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < task_->workloads.size(); ++i) {
    const auto& w = task_->workloads[i];
    const auto calls = w.hidden ? 1 : most_calls_of_reading(speed_of_light_ns(i));
    bytes = std::max(bytes, calls * call_bytes(*task_, w));
  }
  return std::min(arena_, bytes + bytes / 8 + usual_workspace_bytes + (64U << 20U));
}

// Room for one call of any workload; for intervals as many calls of visible ones as 2 ms hold (Python: 12),
// with the workspaces of baselines, as far as all arenas together have room for them in a quarter of the
// device.
std::uint64_t gpu_bench::arena_for(std::size_t arenas, const std::vector<baseline_to_add>& built) const {
  const double interval_ns = python_ ? 1.3 * python_interval_ns : 2.2e6;
  std::uint64_t largest = 0;
  std::uint64_t together = 0;
  for (std::size_t i = 0; i < task_->workloads.size(); ++i) {
    const auto bytes = call_bytes(*task_, task_->workloads[i]);
    largest = std::max(largest, bytes);
    if (task_->workloads[i].hidden) continue;
    const double most = std::min<double>(contents_[i].timed, most_slots);
    const double calls =
        std::clamp(interval_ns / std::max(speed_of_light_ns(i), 500.0), 1.0, std::max(most, 1.0));
    std::uint64_t workspaces = 0;
    for (const auto& [which, program] : built)
      workspaces = std::max(workspaces, workspace_bytes(program.plans[i]));
    together = std::max(together, static_cast<std::uint64_t>(std::ceil(calls)) * (bytes + workspaces));
  }
  // Programs of Python have no workspaces, and their tensors are often large.
  const std::uint64_t spare = python_ ? std::min<std::uint64_t>(largest / 8, 256U << 20U)
                                      : largest / 8 + settings_.limits.workspace_bytes;
  const std::uint64_t usual = largest + spare + (64U << 20U);
  if (arenas == 0) return usual;
  return std::max(usual, std::min(together + (1U << 20U), device_->facts().free_bytes / (4 * arenas)));
}

// Programs in Python have their results in memory of their own, so that their arenas hold inputs alone.
// kevo-device keeps the results of the calls of one interval.
std::uint64_t gpu_bench::arena_of_inputs() const {
  std::uint64_t bytes = 0;
  for (const auto& w : task_->workloads) {
    const auto calls = std::clamp<std::uint64_t>(arena_ / call_bytes(*task_, w), 1, most_slots);
    bytes = std::max(bytes, calls * input_bytes(*task_, w));
  }
  return std::min(arena_, bytes + (2U << 20U));
}

program_and_workers gpu_bench::make_baseline(const built_program& program, bool concurrent) {
  worker_options options;
  if (python_) options = python_->workers_for(python_role::baseline, concurrent);
  options.hosted = program.kind == program_kind::hosted;
  options.trusted = options.hosted;
  options.folders = program.object.folders;
  auto workers = workers_for(std::move(options), 1, arena_of_worker_);
  auto runner = std::make_unique<program_runner>(task_, *workers, image_of(program), contents_,
                                                 rng(secret_seed()), trust::baseline);
  return {std::move(workers), std::move(runner)};
}

void gpu_bench::add_baseline(const kevo::baseline& b, const built_program& program) {
  try {
    gpu_baseline next{.name = b.name, .usual = make_baseline(program, all_concurrent_), .built = program};
    check_baseline(next);
    // torch.compile makes code for sizes that vary once a process has seen several, and tunes it for these.
    // The sizes that are timed are those of a new process, without the hidden ones. PyTorch keeps the memory
    // of the largest size, which candidates may need.
    if (torch::is_compiled(b.link) || (python_ && keeps_much_of_hidden_sizes(*task_)))
      next.usual.runner->restart();
    baselines_.push_back(std::move(next));
  } catch (const error& failure) {
    // A library that is not in order here is no reason to measure nothing.
    if (!b.optional || program.kind != program_kind::hosted || failure.code() == error_code::interrupted)
      throw;
    leave_out(b.name, failure.message());
  }
}

device_task gpu_bench::describe_reference(std::stop_token stop) {
  const error_place place{.file = task_->file, .key = "reference"};
  const auto& source = task_->reference->source;
  const auto lines = read_launch_lines(source);
  if (const auto* failure = std::get_if<launch_failure>(&lines))
    throw error(error_code::input, "the reference: " + failure->reason, place);
  const auto& declared = std::get<declared_launch>(lines);
  const auto names = kernel_names(declared, reference_signature(*task_, task_->workloads.front()), facts_);
  if (const auto* failure = std::get_if<launch_failure>(&names))
    throw error(error_code::input, "the reference: " + failure->reason, place);
  const auto built = compiler_->build({.source = source,
                                       .kernels = std::get<std::vector<std::string>>(names),
                                       .architecture = facts_.architecture,
                                       .flags = settings_.flags,
                                       .fast_math = {true, {}}},
                                      std::move(stop));
  if (!built.ok)
    throw error(error_code::input, "the reference does not compile: " + built.diagnostics, place);
  return describe_task(*task_, built.module, declared, facts_);
}

device_task gpu_bench::describe_python_reference() const {
  std::vector<plan> plans;
  for (const auto& w : task_->workloads) plans.push_back(python_plan(*task_, w));
  return describe_python_task(*task_, plans);
}

// A process of its own computes what is expected; its arena holds the inputs and the outputs of one call.
void gpu_bench::start_reference(const std::vector<device_workload>& workloads) {
  constexpr std::uint64_t around = 1U << 20U;
  std::uint64_t bytes = 0;
  for (const auto& w : workloads) bytes = std::max(bytes, content_bytes(w));
  reference_workers_ = workers_for(python_->workers_for(python_role::reference, true), 0, bytes + around);
  reference_workers_->fresh();
  const auto answer = device_->load_object(reference_workers_->arena(), python_->reference_object());
  if (answer.end == call_end::done) return;
  throw error(error_code::input,
              "the reference cannot be loaded: " +
                  (answer.message.empty() ? "its process " + reference_workers_->death() : answer.message),
              {.file = task_->file, .key = "reference"});
}

// Its arena is as large as all that candidates need.
void gpu_bench::end_reference() {
  if (!reference_workers_) return;
  const auto arena = reference_workers_->arena();
  reference_workers_->end();
  reference_workers_.reset();
  device_->close_arena(arena);
}

// A baseline must be right on every workload; its times set the limits of candidates.
void gpu_bench::check_baseline(gpu_baseline& baseline) {
  baseline.call_ns.assign(task_->workloads.size(), 0);
  for (std::size_t i = 0; i < task_->workloads.size(); ++i) {
    for (std::uint32_t n = 0; n < 3; ++n) {
      const auto time = baseline.usual.runner->check(i, n, std::chrono::seconds(60));
      if (time.failure) throw baseline_error(*task_, baseline.name, task_->workloads[i], *time.failure);
      auto& known = baseline.call_ns[i];
      known = known > 0 ? std::min(known, time.event_ns) : time.event_ns;
      if (contents_[i].varied < 2 && n == 1) break;
    }
  }
}

}  // namespace kevo::cuda
