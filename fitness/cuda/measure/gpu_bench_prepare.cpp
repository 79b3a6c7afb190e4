// What must be there before anything is timed: the device, the compilers, contents, baselines that are right.

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include <kevo/error.hpp>
#include <kevo/task_id.hpp>

#include "fitness/cuda/hosted/entry.hpp"
#include "fitness/cuda/measure/device_task.hpp"
#include "fitness/cuda/measure/gpu_bench.hpp"
#include "fitness/cuda/measure/gpu_probe.hpp"
#include "fitness/cuda/measure/host_inputs.hpp"
#include "fitness/cuda/wire/worker_protocol.hpp"
#include "fitness/oracle/generate.hpp"
#include "fitness/sandbox/sandbox.hpp"
#include "fitness/torch/compiled_baseline.hpp"

namespace kevo::cuda {
namespace {

// Contents of the timed calls of a workload, so that one process mostly does for an evaluation: sixteen
// blocks of two readings, of five calls each if they are short and cold. Of many short warm calls they do for
// six blocks. Large ones take memory and time of the reference, but a process that starts costs more: the
// processes of all GPUs of a host create their contexts one after the other.
std::uint32_t contents_for(std::uint64_t bytes) {
  return bytes < (8U << 20U) ? 400 : bytes < (128U << 20U) ? 180 : 80;
}

// Enough for the intervals of two pairs in Python, of calls that take no less than their bytes need.
std::uint32_t contents_for_python(std::uint64_t bytes, double bytes_per_s) {
  if (bytes < (128U << 20U) || !(bytes_per_s > 0)) return contents_for(bytes);
  const double call_ns = 1e9 * static_cast<double>(bytes) / bytes_per_s;
  const auto calls = static_cast<std::uint32_t>(std::ceil(python_interval_ns / call_ns));
  return std::min(contents_for(bytes), 2 * (calls + 4) + 1);
}

// Of a reference in Python, for the timed contents of a workload [s]; some are made whatever they cost. They
// do for two pairs of one call each.
constexpr double python_seconds = 4;
constexpr std::uint32_t least_python_contents = 5;
// Above this size [bytes], what only a baseline is checked with is not made for hidden workloads.
constexpr std::uint64_t large_content_bytes = 1ULL << 30U;

// For what the host draws: [s] of all workloads together, and the timed contents that a workload has whatever
// they cost.
constexpr double host_seconds = 30;
constexpr std::uint64_t least_host_contents = 16;

// A device without room: what needs it.
error with_size(const error& failure, const task& t, std::size_t workload, std::uint64_t content_bytes) {
  if (failure.code() != error_code::environment ||
      failure.message().find("OUT_OF_MEMORY") == std::string::npos)
    return failure;
  return {
      error_code::environment,
      fmt::format("the device has no room for the data of workload '{}': the inputs of a call and what is "
                  "expected of it, in float64, need {} MiB, and several of them are needed ({})",
                  t.workloads[workload].uuid, content_bytes >> 20U, failure.message()),
      {.file = t.file, .key = "workloads"},
      "use smaller workloads, a device with more memory, or end other programs on the device"};
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
  baseline_workers_.clear();
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
  if (built.empty())
    throw error(error_code::input, "no baseline builds on this machine", {.file = task_->file, .key = {}},
                "install the libraries that the baselines link with, or add a baseline that needs none");
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
                fmt::format(" share {}", settings_.own_kernel_share);
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
  if (python_) start_reference(described.workloads);
  make_contents(described.workloads, stop);
  end_reference();
  // Intervals of many calls are for tasks that have hosted programs. Besides the baselines there are declared
  // candidates, hosted ones, the empty program.
  const bool hosted = std::any_of(built.begin(), built.end(),
                                  [](const auto& one) { return one.second.kind == program_kind::hosted; }) ||
                      std::any_of(task_->seeds.begin(), task_->seeds.end(),
                                  [](const program& one) { return is_hosted(one); });
  arena_ = arena_for(hosted ? built.size() + 3 : 0);
  baselines_.reserve(built.size());  // timers keep pointers to them
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
// as far as all arenas together have room for them in a quarter of the device.
std::uint64_t gpu_bench::arena_for(std::size_t arenas) const {
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
    together = std::max(together, static_cast<std::uint64_t>(std::ceil(calls)) * bytes);
  }
  // Programs of Python have no workspaces, and their tensors are often large.
  const std::uint64_t spare = python_ ? std::min<std::uint64_t>(largest / 8, 256U << 20U)
                                      : largest / 8 + settings_.limits.workspace_bytes;
  const std::uint64_t usual = largest + spare + (64U << 20U);
  if (arenas == 0) return usual;
  return std::max(usual, std::min(together + (1U << 20U), device_->facts().free_bytes / (4 * arenas)));
}

void gpu_bench::add_baseline(const kevo::baseline& b, const built_program& program) {
  worker_options options;
  if (python_) options = python_->workers_for(python_role::baseline);
  options.hosted = program.kind == program_kind::hosted;
  options.trusted = options.hosted;
  options.folders = program.object.folders;
  try {
    auto workers = workers_for(options, 1, arena_);
    gpu_baseline next{
        b.name,
        std::make_unique<program_runner>(
            task_, *workers, program_image{program.kind, program.code, program.object.object, program.plans},
            contents_, rng(secret_seed()), trust::baseline),
        {}};
    check_baseline(next);
    // torch.compile makes code for sizes that vary once a process has seen several, and tunes it for these.
    // The sizes that are timed are those of a new process, without the hidden ones.
    if (torch::is_compiled(b.link)) next.program->restart();
    baseline_workers_.push_back(std::move(workers));
    baselines_.push_back(std::move(next));
  } catch (const error& failure) {
    // A library that is not in order here is no reason to measure nothing.
    if (!b.optional || !options.hosted || failure.code() == error_code::interrupted) throw;
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
  reference_workers_ = workers_for(python_->workers_for(python_role::reference), 0, bytes + around);
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

// Each workload gets what it wants, as long as there is room: those that want little leave what they do not
// take to the others.
void gpu_bench::make_contents(const std::vector<device_workload>& workloads, const std::stop_token& stop) {
  const auto count = task_->workloads.size();
  contents_.assign(count, {});
  std::vector<contents_wanted> wanted(count);
  std::vector<double> bytes(count);
  std::vector<std::size_t> order(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto& w = task_->workloads[i];
    wanted[i].workload = static_cast<std::uint32_t>(i);
    wanted[i].reference = reference_workers_ ? reference_workers_->arena() : 0;
    wanted[i].timed = w.hidden  ? 1
                      : python_ ? contents_for_python(call_bytes(*task_, w), ceilings_.copy_bytes_per_s)
                                : contents_for(call_bytes(*task_, w));
    wanted[i].varied = !w.hidden ? 4 : python_ && content_bytes(workloads[i]) > large_content_bytes ? 1 : 2;
    bytes[i] = static_cast<double>(wanted[i].timed + wanted[i].varied) *
               static_cast<double>(content_bytes(workloads[i]));
    order[i] = i;
  }
  const auto on_host = [&](std::size_t i) { return has_host_inputs(*task_, task_->workloads[i]); };
  const double seconds = host_seconds / static_cast<double>(std::max<std::ptrdiff_t>(
                                            std::count_if(order.begin(), order.end(), on_host), 1));
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return bytes[a] < bytes[b]; });
  double room = settings_.pool_fraction * static_cast<double>(device_->facts().free_bytes);
  for (std::size_t n = 0; n < count; ++n) {
    const auto i = order[n];
    const double share = room / static_cast<double>(count - n);
    wanted[i].most_bytes = static_cast<std::uint64_t>(share);
    const auto make = [&] {
      if (on_host(i)) return make_given_contents(wanted[i], content_bytes(workloads[i]), seconds, stop);
      return python_ ? make_slowly(wanted[i], stop) : device_->make(wanted[i]);
    };
    const auto made = [&] {
      try {
        return make();
      } catch (const error& failure) {
        throw with_size(failure, *task_, i, content_bytes(workloads[i]));
      }
    }();
    if (!made.complaint.empty())
      throw error(error_code::input,
                  "the reference, on workload '" + task_->workloads[i].uuid + "', " + made.complaint,
                  {.file = task_->file, .key = "reference"});
    contents_[i] = {made.timed, made.varied};
    if (remark_.empty()) remark_ = made.remark;
    room -= std::min(share, bytes[i]);
  }
}

// As many timed ones as there is time for: a reference in float64 may take a second for a call.
contents_made gpu_bench::make_slowly(contents_wanted wanted, const std::stop_token& stop) {
  const auto begin = std::chrono::steady_clock::now();
  const auto all = wanted.timed;
  std::string remark;
  contents_made made;
  for (wanted.timed = std::min(all, least_python_contents);;
       wanted.timed = std::min(all, wanted.timed + std::max(wanted.timed / 2, 1U))) {
    if (stop.stop_requested()) throw error(error_code::interrupted, "the evaluation was stopped");
    made = device_->make(wanted);
    if (remark.empty()) remark = made.remark;
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
    const bool no_room = made.timed < wanted.timed;
    if (!made.complaint.empty() || no_room || wanted.timed == all || spent.count() > python_seconds) break;
  }
  made.remark = std::move(remark);
  return made;
}

// One after the other, because the host has drawn some of their inputs. Timed ones are as many as `seconds`
// and the memory allow; with fewer, a process of a candidate does for fewer calls.
contents_made gpu_bench::make_given_contents(const contents_wanted& wanted, std::uint64_t content_bytes,
                                             double seconds, const std::stop_token& stop) {
  std::optional<worker_settings> maker;
  if (has_made_inputs(task_->workloads[wanted.workload])) {
    maker = python_->input_maker_for(wanted.workload);
    maker->stop = stop;
  }
  host_inputs host(*task_, wanted.workload, maker ? &*maker : nullptr);
  const auto room = contents_in(wanted.most_bytes, content_bytes, wanted.varied);
  const auto begin = std::chrono::steady_clock::now();
  const auto spent = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  contents_made made;
  const auto add = [&](bool varied, std::uint64_t number) {
    if (stop.stop_requested()) throw error(error_code::interrupted, "the evaluation was stopped");
    const auto drawn = host.next(varied, number);
    auto remark = std::move(made.remark);
    made = device_->add({wanted.workload, wanted.reference, varied, static_cast<std::uint32_t>(drawn.kind)},
                        drawn.bytes);
    if (!remark.empty()) made.remark = std::move(remark);
    return made.complaint.empty();
  };
  for (std::uint64_t n = 0; n < std::min(wanted.varied, room.varied); ++n) {
    if (!add(true, n)) return made;
  }
  for (std::uint64_t n = 0; n < std::min(wanted.timed, room.timed); ++n) {
    if (n >= least_host_contents && spent() > seconds) break;
    if (!add(false, n)) return made;
  }
  return made;
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

}  // namespace kevo::cuda
