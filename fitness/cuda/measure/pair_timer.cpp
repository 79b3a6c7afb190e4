#include "fitness/cuda/measure/pair_timer.hpp"

#include <algorithm>
#include <cmath>

#include <kevo/error.hpp>
#include <kevo/evaluate/statistics.hpp>

#include "fitness/cuda/worker/protocol.hpp"

namespace kevo::cuda {
namespace {

constexpr double goal_ns = 150e3;       // of one reading of several calls
constexpr double cold_goal_ns = 100e3;  // of the calls whose median is one cold reading
constexpr std::uint32_t most_calls = 32;
// The trusted clock minus events is constant within about a microsecond (docs/gpu.md); a descheduled thread
// adds more.
constexpr double tolerance_ns = 3e3;
constexpr double tolerance_share = 0.005;
constexpr double most_clock_change = 0.02;
constexpr int most_contested = 3;  // blocks, each in other processes
constexpr std::size_t least_constants = 3;
constexpr double interval_ns = 2.2e6;  // at least 2 ms, and what the estimate of a call is wrong by

}  // namespace

reading_plan plan_readings(double candidate_ns, double baseline_ns, bool cold, std::uint32_t contents) {
  const double shorter = std::max(std::min(candidate_ns, baseline_ns), 500.0);
  reading_plan plan;
  plan.cold = cold;
  if (cold) {
    plan.repeats = static_cast<int>(std::clamp(std::ceil(cold_goal_ns / shorter), 1.0, 5.0));
    return plan;
  }
  // Half of them, so that one process serves a block of two readings.
  const double most = std::clamp(contents / 2.0, 1.0, static_cast<double>(most_calls));
  plan.calls = static_cast<std::uint32_t>(std::clamp(std::ceil(goal_ns / shorter), 1.0, most));
  return plan;
}

reading_plan plan_intervals(double candidate_ns, double baseline_ns, bool cold, std::uint32_t contents,
                            std::uint32_t room) {
  const double shorter = std::max(std::min(candidate_ns, baseline_ns), 500.0);
  reading_plan plan;
  plan.cold = cold;
  // One is for the untimed first call of a process.
  const double most = std::clamp(std::min<double>(contents, most_slots) - 1, 1.0, std::max<double>(room, 1));
  plan.calls = static_cast<std::uint32_t>(std::clamp(std::ceil(interval_ns / shorter), 1.0, most));
  return plan;
}

clock_check reconcile(double event_ns, double outside_ns, double constant_ns) {
  const double seen = outside_ns - constant_ns;
  const double tolerance = tolerance_ns + tolerance_share * seen;
  if (std::abs(seen - event_ns) <= tolerance) return {event_ns, true};
  // Whatever is the truth, a claim never makes a call shorter than the trusted clock saw it.
  return {std::max(seen, event_ns), false};
}

pair_timer::pair_timer(program_runner& candidate, program_runner& baseline, std::size_t workload,
                       reading_plan plan, std::chrono::nanoseconds limit)
    : candidate_(&candidate), baseline_(&baseline), workload_(workload), plan_(plan), limit_(limit) {}

pair_timer::pair_timer(program_runner& candidate, program_runner& baseline, program_runner& empty,
                       std::size_t workload, reading_plan plan, std::chrono::nanoseconds limit)
    : pair_timer(candidate, baseline, workload, plan, limit) {
  empty_ = &empty;
}

double pair_timer::resolution_ns() const {
  if (constants_.size() < 4) return 0;
  auto sorted = constants_;
  std::sort(sorted.begin(), sorted.end());
  return (sorted[3 * (sorted.size() - 1) / 4] - sorted[(sorted.size() - 1) / 4]) / plan_.calls;
}

double pair_timer::constant_ns() const {
  return constants_.empty() ? 8e3 : median(constants_);
}

void pair_timer::read_empty() {
  if (!empty_->running()) {
    if (const auto warm = empty_->interval(workload_, 1, plan_.cold, limit_); warm.failure)
      throw error(error_code::environment, "the empty program failed: " + warm.failure->reason);
  }
  const auto time = empty_->interval(workload_, plan_.calls, plan_.cold, limit_);
  if (time.failure) throw error(error_code::environment, "the empty program failed: " + time.failure->reason);
  if (time.clock_mhz > 0) clocks_.push_back(time.clock_mhz);
  constants_.push_back(time.outside_ns);
}

pair_timer::reading pair_timer::read_interval(program_runner& program, bool trusted, content_use use) {
  // The first call of a size is untimed in every process: host code makes plans and handles then.
  if (!program.ready_for(workload_, plan_.calls, use)) program.restart();
  if (!program.has_run(workload_)) {
    if (auto warm = program.interval(workload_, 1, plan_.cold, limit_); warm.failure)
      return {0, false, warm.failure};
  }
  const auto time = program.interval(workload_, plan_.calls, plan_.cold, limit_, use);
  if (time.failure) return {0, false, time.failure};
  if (time.clock_mhz > 0) clocks_.push_back(time.clock_mhz);
  if (!trusted) ++readings_;
  shortest_ns_ = shortest_ns_ > 0 ? std::min(shortest_ns_, time.outside_ns) : time.outside_ns;
  // What would be shorter than nothing is left to the floor to judge.
  return {std::max(time.outside_ns - constant_ns(), 1.0) / plan_.calls, false, std::nullopt};
}

pair_timer::reading pair_timer::read(program_runner& program, bool trusted, content_use use) {
  if (by_intervals()) return read_interval(program, trusted, use);
  // A process that has just been started has its first call untimed.
  const auto wanted =
      use == content_use::again ? plan_.calls : plan_.calls * static_cast<std::uint32_t>(plan_.repeats);
  const bool hosted = program.kind() == program_kind::hosted;
  const bool ready = program.ready_for(workload_, wanted, use);
  if (!ready || (hosted && !program.has_run(workload_))) {
    if (!ready) program.restart();
    // Host code makes handles and plans then, which cannot be done behind a kernel that holds the stream
    // back.
    const auto warm = hosted ? program.interval(workload_, 1, plan_.cold, limit_)
                             : program.time(workload_, 1, plan_.cold, limit_);
    if (warm.failure) return {0, false, warm.failure};
  }
  reading result;
  std::vector<double> times;
  for (int i = 0; i < plan_.repeats; ++i) {
    const auto time = program.time(workload_, plan_.calls, plan_.cold, limit_, use);
    if (time.failure) return {0, false, time.failure};
    if (time.clock_mhz > 0) clocks_.push_back(time.clock_mhz);
    if (trusted) {
      constants_.push_back(time.outside_ns - time.event_ns);
      times.push_back(time.event_ns / time.calls);
      result.disturbed = result.disturbed || time.unblocked;
      continue;
    }
    ++readings_;
    const auto checked = reconcile(time.event_ns, time.outside_ns, constant_ns());
    if (!checked.agree) ++disagreements_;
    result.disturbed = result.disturbed || time.unblocked || !checked.agree;
    times.push_back(checked.ns / time.calls);
  }
  result.ns = median(times);
  return result;
}

void pair_timer::renew() {
  candidate_->restart();
  if (baseline_->kind() == program_kind::declared) baseline_->restart();
}

std::variant<double, call_failure> pair_timer::sustained(double seconds) {
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed_s = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  std::vector<double> times;
  while (times.size() < 3 || elapsed_s() < seconds) {
    const auto once = read(*candidate_, false, content_use::again);
    if (once.failure) return *once.failure;
    times.push_back(once.ns);
  }
  return median({times.end() - static_cast<std::ptrdiff_t>((times.size() + 2) / 3), times.end()});
}

std::optional<call_failure> pair_timer::block() {
  clocks_.clear();
  const int disagreed_before = disagreements_;
  // B C C B and C B B C in turn; the baseline first, for it tells what the trusted clock adds.
  const bool baseline_outside = (pairs_.size() + static_cast<std::size_t>(discarded_)) % 2 == 0;
  double b = 0;
  double c = 0;
  bool disturbed = false;
  // Whatever a candidate's host code may have left on the device ends with it, before anything else is timed.
  const auto end_candidate = [this] {
    if (!by_intervals() || candidate_->kind() != program_kind::hosted || !candidate_->running()) return;
    candidate_->restart();
    candidate_->workers().settle();
  };
  if (by_intervals()) {
    end_candidate();
    do read_empty();
    while (constants_.size() < least_constants);
  }
  for (const bool outer : {true, false, false, true}) {
    const bool trusted = outer == baseline_outside;
    if (trusted) end_candidate();
    const auto once = read(trusted ? *baseline_ : *candidate_, trusted);
    if (once.failure) {
      if (!trusted) return once.failure;
      throw error(error_code::environment, "the baseline failed while it was timed (" + once.failure->reason +
                                               " " + once.failure->detail + "): the machine is not in order");
    }
    (trusted ? b : c) += 0.5 * once.ns;
    disturbed = disturbed || once.disturbed;
  }
  if (!clocks_.empty()) {
    const auto [least, most] = std::minmax_element(clocks_.begin(), clocks_.end());
    disturbed = disturbed || *least < (1 - most_clock_change) * *most;
  }
  if (!disturbed && b > 0 && c > 0) {
    pairs_.push_back({c, b});
    return std::nullopt;
  }
  ++discarded_;
  // It may be the process and not the program (one of a thousand honest settings was called suspect,
  // docs/gpu.md):
  // fresh ones show which.
  if (disagreements_ > disagreed_before) {
    ++contested_;
    renew();
  }
  if (contested_ >= most_contested && 2 * disagreements_ > readings_) {
    return call_failure{outcome::suspect, "its events and the trusted clock disagree",
                        "what the device says the call took is not what the trusted clock saw", true, true};
  }
  if (discarded_ > 12 + 2 * static_cast<int>(pairs_.size())) {
    throw error(error_code::environment,
                "no time can be taken: the device's clock changes within every block", {},
                "end what else runs on the device");
  }
  return std::nullopt;
}

}  // namespace kevo::cuda
