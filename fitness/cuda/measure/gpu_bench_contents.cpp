// Contents: the inputs of calls and what is expected of them, made before anything is timed.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include <kevo/error.hpp>

#include "fitness/cuda/measure/device_room.hpp"
#include "fitness/cuda/measure/device_task.hpp"
#include "fitness/cuda/measure/gpu_bench.hpp"
#include "fitness/cuda/measure/host_inputs.hpp"
#include "fitness/cuda/measure/reading_plans.hpp"

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
// Above these sizes [bytes], a hidden or a visible workload has one content of another distribution.
constexpr std::uint64_t large_content_bytes = 1ULL << 30U;
constexpr std::uint64_t huge_content_bytes = 4ULL << 30U;

// Contents of other distributions.
std::uint32_t varied_contents(bool hidden, bool python, std::uint64_t bytes) {
  if (python && bytes > (hidden ? large_content_bytes : huge_content_bytes)) return 1;
  return hidden ? 2 : 4;
}

// For what the host draws: [s] of all workloads together, and the timed contents that a workload has whatever
// they cost.
constexpr double host_seconds = 30;
constexpr std::uint64_t least_host_contents = 16;

// A device without room: what needs it.
error with_size(const error& failure, const task& t, std::size_t workload, std::uint64_t content_bytes) {
  if (!speaks_of_room(failure)) return failure;
  return {
      error_code::environment,
      fmt::format("the device has no room for the data of workload '{}': the inputs of a call and what is "
                  "expected of it, in float64, need {} MiB, and several of them are needed ({})",
                  t.workloads[workload].uuid, content_bytes >> 20U, failure.message()),
      {.file = t.file, .key = "workloads"},
      "use smaller workloads, a device with more memory, or end other programs on the device"};
}

}  // namespace

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
    wanted[i].varied = varied_contents(w.hidden, python_ != nullptr, content_bytes(workloads[i]));
    bytes[i] = static_cast<double>(wanted[i].timed + wanted[i].varied) *
               static_cast<double>(content_bytes(workloads[i]));
    order[i] = i;
  }
  const auto on_host = [&](std::size_t i) { return has_host_inputs(*task_, task_->workloads[i]); };
  const double seconds = host_seconds / static_cast<double>(std::max<std::ptrdiff_t>(
                                            std::count_if(order.begin(), order.end(), on_host), 1));
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return bytes[a] < bytes[b]; });
  // A baseline and a candidate have parameters on the device.
  const double taken = python_ ? 2.0 * static_cast<double>(python_->parameter_bytes()) : 0;
  double room =
      settings_.pool_fraction * std::max(static_cast<double>(device_->facts().free_bytes) - taken, 0.0);
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

}  // namespace kevo::cuda
