#include "fitness/cuda/measure/program_runner.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <kevo/error.hpp>
#include <kevo/task_extents.hpp>

#include "fitness/cuda/driver/driver.hpp"
#include "fitness/cuda/measure/device_room.hpp"
#include "fitness/cuda/measure/device_task.hpp"
#include "fitness/cuda/wire/worker_protocol.hpp"
#include "fitness/oracle/compare.hpp"

namespace kevo::cuda {
namespace {

// Before intervals that begin with untimed calls: the clock of an H100 needs some 10 ms.
constexpr std::uint64_t busy_before_interval_ns = 20'000'000;
// With fewer contents than these, intervals of programs in Python have no untimed calls (reading_plans.cpp).
constexpr std::uint32_t contents_with_untimed = 9;

// Codes that say the device or its driver is not in order, and not the program that ran.
[[noreturn]] void machine_fault(const std::string& message) {
  throw error(
      error_code::environment, "the device does not work correctly: " + message, {},
      "nvidia-smi and the Xid messages in the system log say more; continue with `kevo resume` when the "
      "device works again");
}

std::optional<call_failure> failure_of(const worker_answer& answer, const std::string& death) {
  switch (answer.end) {
    case call_end::done:
      return std::nullopt;
    case call_end::refused:
      if (answer.code == raised_exception)
        return call_failure{outcome::crashed, "raised an exception", answer.message};
      if (answer.code == no_device_memory)
        return call_failure{.outcome = outcome::crashed,
                            .reason = found_no_memory,
                            .detail = answer.message,
                            .again = true,
                            .room = true};
      if (answer.code == wrong_result)
        return call_failure{outcome::incorrect, "wrong result", answer.message};
      return call_failure{outcome::launch_failed, "could not be launched", answer.message};
    case call_end::failed:
      return call_failure{outcome::crashed, "crashed", answer.message, true};
    case call_end::died:
      return call_failure{outcome::crashed, "crashed", "the worker " + death, true, true};
    case call_end::timed_out:
      return call_failure{outcome::timed_out, "timed out", "", true, true};
    case call_end::contradiction:
      return call_failure{outcome::suspect, "contradicts itself", answer.message, true};
  }
  return call_failure{outcome::crashed, "crashed", ""};
}

}  // namespace

program_runner::program_runner(std::shared_ptr<const task> t, worker_source& workers, program_image image,
                               std::vector<content_counts> contents, rng random, trust whose)
    : task_(std::move(t)),
      workers_(&workers),
      image_(std::move(image)),
      contents_(std::move(contents)),
      random_(random),
      whose_(whose) {}

std::uint32_t program_runner::room(std::size_t workload) const {
  // At most, of each buffer: its distance from the one before, its alignment, and a guard behind it.
  constexpr std::uint64_t around_buffer = 12U << 10U;
  const auto& p = image_.plans[workload];
  std::uint64_t each = call_bytes(*task_, task_->workloads[workload]) + workspace_bytes(p);
  each += around_buffer * (p.inputs + p.outputs + p.workspaces.size());
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(workers_->arena_bytes() / each, 1, most_slots));
}

void program_runner::restart() {
  workers_->end();
  loaded_ = begun_ = false;
}

std::optional<call_failure> program_runner::start(bool timing) {
  if (!std::exchange(begun_, false)) workers_->fresh(timing);
  seen_.clear();
  const time_span span(workers_->spent().workers_s);
  const time_span loading(workers_->spent().loads_s);
  auto& device = workers_->device();
  const auto answer = image_.kind == program_kind::declared
                          ? device.load(workers_->arena(), image_.code)
                          : device.load_object(workers_->arena(), image_.object);
  loaded_ = answer.end == call_end::done;
  auto failure = failure_of(answer);
  if (failure && failure->outcome == outcome::launch_failed) failure->reason = "could not be loaded";
  return failure;
}

// A worker whose host code is the kernel's own and kevo's says how the device is; a candidate's host code may
// claim anything.
std::optional<call_failure> program_runner::failure_of(const worker_answer& answer) const {
  if (answer.end != call_end::done && speaks_of_machine(answer.code)) {
    const bool a_claim = image_.kind == program_kind::hosted && whose_ == trust::none;
    if (!a_claim) machine_fault(answer.message);
    return call_failure{outcome::crashed, "crashed", answer.message, true};
  }
  return cuda::failure_of(answer, answer.end == call_end::died ? workers_->death() : "");
}

std::vector<std::uint32_t> program_runner::choices(std::size_t workload, content_use use) const {
  std::vector<std::uint32_t> left;
  for (std::uint32_t i = 0; i < contents_[workload].timed; ++i) {
    if (whose_ == trust::baseline || use == content_use::again || !seen_.contains({workload, i}))
      left.push_back(i);
  }
  return left;
}

bool program_runner::ready_for(std::size_t workload, std::uint32_t calls, content_use use) const {
  return loaded_ && (whose_ == trust::baseline || choices(workload, use).size() >= calls);
}

bool program_runner::has_run(std::size_t workload) const {
  const auto first = seen_.lower_bound({workload, 0});
  return loaded_ && first != seen_.end() && first->first == workload;
}

std::optional<call_failure> program_runner::verdict(std::size_t workload, const call_result& result) const {
  if (result.guards)
    return call_failure{outcome::rejected, "wrote outside of its outputs",
                        "memory around the buffers was changed"};
  if (result.inputs) return call_failure{outcome::rejected, "changed its inputs", ""};
  if (!result.findings.empty()) {
    const auto& found = result.findings.front();
    const auto& output = task_->outputs[found.output];
    if (!found.contract.empty())
      return call_failure{outcome::incorrect, "wrong result",
                          fmt::format("output {}: {}", output.name, found.contract)};
    const auto axes = axis_values(*task_, task_->workloads[workload]);
    const auto shape = extents(output, axes);
    return call_failure{
        outcome::incorrect, "wrong result",
        fmt::format(
            "output {}: {} of {} elements are wrong, the first at {}; at {} it is {:.6g} and must be {:.6g} "
            "({:.3g} times the bound)",
            output.name, found.wrong, found.total, index_text(found.first, shape),
            index_text(found.worst, shape), found.got, found.expected, found.factor)};
  }
  if (result.early)
    return call_failure{outcome::rejected, "signalled done before the work was done",
                        "output that was read the moment the call had ended was written afterwards"};
  return std::nullopt;
}

gpu_time program_runner::call(std::size_t workload, std::vector<std::uint32_t> contents, bool cold,
                              std::chrono::nanoseconds limit, bool fingerprint, bool interval,
                              std::uint32_t untimed, call_mode mode) {
  gpu_time time;
  time.calls = static_cast<int>(contents.size());
  const bool first = !has_run(workload);
  // Calls of nothing come before the first call, which prepares what the later ones use.
  if (mode != call_mode::nothing) {
    for (const auto content : contents) seen_.emplace(workload, content);
  }
  call_wanted wanted;
  wanted.arena = workers_->arena();
  wanted.workload = static_cast<std::uint32_t>(workload);
  wanted.contents = std::move(contents);
  wanted.cold = cold;
  wanted.fingerprint = fingerprint;
  wanted.limit_ns = static_cast<std::uint64_t>(limit.count() * time.calls);
  wanted.what = image_.plans[workload];
  wanted.hosted = image_.kind != program_kind::declared;
  const bool python = wanted.hosted && is_python_task(*task_);
  const bool with_host = mode == call_mode::host || mode == call_mode::idle;
  wanted.held = python && !with_host;
  wanted.busy_until_begin = wanted.held && mode != call_mode::usual && mode != call_mode::nothing;
  wanted.idle = mode == call_mode::idle || mode == call_mode::nothing;
  wanted.touch = python && (with_host || mode == call_mode::early);
  wanted.named = interval && python;
  wanted.trusted = whose_ == trust::baseline;
  wanted.empty = wanted.idle || image_.kind == program_kind::empty;
  wanted.interval = interval;
  wanted.frequency_ns = frequency_ns_;
  const bool few = interval && wanted.held && !first && contents_[workload].timed < contents_with_untimed;
  wanted.busy_ns = untimed > 0 || few ? busy_before_interval_ns : 0;
  wanted.untimed = std::min(untimed, static_cast<std::uint32_t>(time.calls) - 1);
  auto& spent = workers_->spent();
  call_result result;
  double whole_s = 0;
  {
    const time_span span(whole_s);
    result = workers_->device().call(wanted);
  }
  spent.calls_s += whole_s;
  spent.kernels_s += 1e-9 * result.outside_ns;
  if (first) {
    spent.first_calls_s += whole_s;
  } else {
    (whose_ == trust::none ? spent.candidate_s : spent.trusted_s) +=
        std::clamp(1e-9 * result.outside_ns, 0.0, whole_s);
  }
  spent.calls += time.calls;
  time.calls -= static_cast<int>(wanted.untimed);
  time.failure = failure_of(result.answer);
  if (time.failure && result.answer.end == call_end::timed_out)
    time.failure->detail = fmt::format("{} may take {:.3g} s here", first ? "the first call" : "a call",
                                       std::chrono::duration<double>(limit).count());
  if (!time.failure) time.failure = verdict(workload, result);
  if (time.failure) {
    restart();
    workers_->settle();  // whatever it still does on the device ends first
  }
  time.event_ns = result.event_ns;
  time.outside_ns = result.outside_ns;
  time.calls_ns = result.calls_ns;
  time.each_outside_ns = std::move(result.each_outside_ns);
  time.each_event_ns = std::move(result.each_event_ns);
  time.each_call_ns = std::move(result.each_call_ns);
  time.fence_ns = result.fence_ns;
  time.clock_mhz = result.clock_mhz;
  time.begin_clock_mhz = result.begin_clock_mhz;
  time.unblocked = result.unblocked;
  time.preempted = result.preempted;
  time.fingerprint = result.fingerprint;
  time.remark = result.remark;
  time.suite_misses = result.suite_misses;
  return time;
}

gpu_time program_runner::check(std::size_t workload, std::uint32_t varied, std::chrono::nanoseconds limit,
                               bool quiet) {
  const std::uint32_t number =
      varied == 0 ? 0 : varied_base + (varied - 1) % std::max(contents_[workload].varied, 1U);
  if (!loaded_ || (whose_ == trust::none && seen_.contains({workload, number}))) {
    if (auto failure = start(quiet)) {
      restart();
      return {.failure = failure};
    }
  }
  return call(workload, {number}, false, limit, false, image_.kind != program_kind::declared);
}

gpu_time program_runner::fingerprint(std::size_t workload, std::chrono::nanoseconds limit) {
  if (!loaded_ || seen_.contains({workload, 0})) {
    if (auto failure = start()) {
      restart();
      return {.failure = failure};
    }
  }
  return call(workload, {0}, false, limit, true, image_.kind != program_kind::declared);
}

gpu_time program_runner::time(std::size_t workload, std::uint32_t count, bool cold,
                              std::chrono::nanoseconds limit, content_use use) {
  // What a candidate's host code says of its events is not believed.
  const bool believed = image_.kind == program_kind::declared || whose_ == trust::baseline;
  return timed(workload, count, cold, limit, use, !believed, 0);
}
gpu_time program_runner::interval(std::size_t workload, std::uint32_t count, bool cold,
                                  std::chrono::nanoseconds limit, content_use use, std::uint32_t untimed) {
  return timed(workload, count, cold, limit, use, true, untimed);
}

std::vector<std::uint32_t> program_runner::draw(std::size_t workload, std::uint32_t count) {
  auto chosen = choices(workload, loaded_ ? content_use::once : content_use::again);
  random_.shuffle<std::uint32_t>(chosen);
  if (chosen.size() > count) chosen.resize(count);
  return chosen;
}

gpu_time program_runner::time_of(std::size_t workload, std::vector<std::uint32_t> contents, bool cold,
                                 std::chrono::nanoseconds limit) {
  const bool believed = image_.kind == program_kind::declared || whose_ == trust::baseline;
  return timed_of(workload, std::move(contents), cold, limit, !believed, 0);
}
gpu_time program_runner::interval_of(std::size_t workload, std::vector<std::uint32_t> contents, bool cold,
                                     std::chrono::nanoseconds limit, std::uint32_t untimed, call_mode mode) {
  return timed_of(workload, std::move(contents), cold, limit, true, untimed, mode);
}
gpu_time program_runner::timed_of(std::size_t workload, std::vector<std::uint32_t> contents, bool cold,
                                  std::chrono::nanoseconds limit, bool interval, std::uint32_t untimed,
                                  call_mode mode) {
  if (!loaded_ && !(begun_ && mode == call_mode::nothing)) {
    if (auto failure = start(true)) {
      restart();
      return {.failure = failure};
    }
    workers_->settle();
  }
  return call(workload, std::move(contents), cold, limit, false, interval, untimed, mode);
}

gpu_time program_runner::nothing_of(std::size_t workload, std::uint32_t content, std::uint32_t calls,
                                    bool cold, std::chrono::nanoseconds limit, std::uint32_t untimed) {
  if (!loaded_ && whose_ == trust::none) {
    workers_->fresh(true);
    begun_ = true;
    if (auto failure = failure_of(workers_->device().load_object(workers_->arena(), image_.nothing))) {
      restart();
      return {.failure = failure};
    }
    workers_->settle();
  }
  return timed_of(workload, std::vector(calls + untimed, content), cold, limit, true, untimed,
                  call_mode::nothing);
}

gpu_time program_runner::timed(std::size_t workload, std::uint32_t count, bool cold,
                               std::chrono::nanoseconds limit, content_use use, bool interval,
                               std::uint32_t untimed) {
  count = std::clamp(count + untimed, 1U, contents_[workload].timed);
  if (!ready_for(workload, count, use)) {
    if (auto failure = start(true)) {
      restart();
      return {.failure = failure};
    }
    workers_->settle();
  }
  auto chosen = choices(workload, use);
  random_.shuffle<std::uint32_t>(chosen);
  chosen.resize(count);
  return call(workload, std::move(chosen), cold, limit, false, interval, untimed);
}

}  // namespace kevo::cuda
