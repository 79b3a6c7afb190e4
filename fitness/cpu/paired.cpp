#include "fitness/cpu/paired.hpp"

#include <algorithm>
#include <cmath>

#include <kevo/error.hpp>
#include <kevo/evaluate/statistics.hpp>

namespace kevo {
namespace {

constexpr double interval_ns = 10e6;
constexpr double isolated_ns = 3e6;  // of each quarter of a block, where calls are that short
constexpr std::size_t most_arena_bytes = 128U << 20U;

[[noreturn]] void trusted_failed(const char* who, const call_failure& failure) {
  throw error(error_code::environment, std::string("the ") + who + " failed while it was timed (" +
                                           failure.reason + " " + failure.detail +
                                           "): the machine is not in order");
}

}  // namespace

pairing_plan plan_pairing(double candidate_ns, double baseline_ns, double stop_ns, std::size_t contents,
                          std::size_t slot_bytes) {
  pairing_plan plan;
  if (std::min(candidate_ns, baseline_ns) < 20 * stop_ns) plan.mode = clock_mode::intervals;
  const double goal = plan.mode == clock_mode::intervals ? interval_ns : isolated_ns;
  const std::size_t room =
      std::clamp<std::size_t>(most_arena_bytes / std::max<std::size_t>(slot_bytes, 1), 1, contents);
  const double most = plan.mode == clock_mode::intervals
                          ? static_cast<double>(room)
                          : std::max(1.0, static_cast<double>(contents) / 2 - 1);
  const auto count = [&](double ns) {
    const double cap = plan.mode == clock_mode::intervals ? most : std::min(8.0, most);
    return static_cast<int>(std::clamp(std::ceil(goal / std::max(ns, 1.0)), 1.0, cap));
  };
  plan.candidate_calls = count(candidate_ns);
  plan.baseline_calls = count(baseline_ns);
  // Nearly equal programs are treated exactly alike.
  if (candidate_ns < 2 * baseline_ns && baseline_ns < 2 * candidate_ns) {
    plan.candidate_calls = plan.baseline_calls = std::max(plan.candidate_calls, plan.baseline_calls);
  }
  plan.half = candidate_ns > 3 * baseline_ns && candidate_ns > 50e6;
  return plan;
}

paired_timer::paired_timer(runner& candidate, runner& baseline, runner& empty, std::size_t workload,
                           const content_list& contents, pairing_plan plan, std::chrono::nanoseconds limit)
    : candidate_(&candidate),
      baseline_(&baseline),
      empty_(&empty),
      contents_(&contents),
      plan_(plan),
      limit_(limit) {
  const bool intervals = plan_.mode == clock_mode::intervals;
  const auto slots = [&](int calls) { return intervals ? static_cast<std::size_t>(calls) : std::size_t{3}; };
  candidate_->select(workload, contents_, slots(plan_.candidate_calls));
  baseline_->select(workload, contents_, slots(plan_.baseline_calls));
  if (intervals) {
    empty_->select(workload, contents_, slots(std::max(plan_.candidate_calls, plan_.baseline_calls)));
    constant_candidate_ = constant_of(plan_.candidate_calls);
    constant_baseline_ = plan_.baseline_calls == plan_.candidate_calls ? constant_candidate_
                                                                       : constant_of(plan_.baseline_calls);
  }
}

// What an interval of the empty program takes, per call.
double paired_timer::constant_of(int calls) {
  std::vector<double> times;
  for (int i = 0; i < 6; ++i) {
    const auto time = empty_->interval(static_cast<std::size_t>(calls), limit_);
    if (time.failure) trusted_failed("empty program", *time.failure);
    if (i > 0) times.push_back(time.ns / time.calls);
  }
  return median(times);
}

paired_timer::reading paired_timer::read_isolated(runner& program, int calls) {
  // A process that has just been started has its first call untimed, so that code and pages are there.
  const bool fresh = !program.running() || program.unseen() < static_cast<std::size_t>(calls);
  if (fresh) {
    program.restart();
    if (auto warm = program.isolated(limit_); warm.failure) return {0, warm.failure};
  }
  std::vector<double> times;
  for (int i = 0; i < calls; ++i) {
    const auto time = program.isolated(limit_);
    if (time.failure) return {0, time.failure};
    double ns = time.ns;
    if (&program == baseline_) {
      baseline_wakes_.push_back(time.wake_ns);
    } else if (!baseline_wakes_.empty()) {
      // Inputs lie there from the wake-up on; whoever takes longer to wake than a trusted worker may be
      // computing.
      ns += std::max(0.0, time.wake_ns - (1.25 * median(baseline_wakes_) + 10e3));
    }
    times.push_back(ns);
  }
  return {median(times), std::nullopt};
}

paired_timer::reading paired_timer::read(runner& program, int calls, double constant) {
  if (&program == candidate_) calls_ += calls;
  if (plan_.mode == clock_mode::isolated) return read_isolated(program, calls);
  const auto time = program.interval(static_cast<std::size_t>(calls), limit_ * calls);
  if (time.failure) return {0, time.failure};
  return {std::max(time.ns / time.calls - constant, 0.5), std::nullopt};
}

std::optional<call_failure> paired_timer::block() {
  const auto candidate = [&] { return read(*candidate_, plan_.candidate_calls, constant_candidate_); };
  const auto baseline = [&] {
    auto result = read(*baseline_, plan_.baseline_calls, constant_baseline_);
    if (result.failure) trusted_failed("baseline", *result.failure);
    return result.ns;
  };
  if (plan_.half) {
    const double b = baseline();
    const auto c = candidate();
    if (c.failure) return c.failure;
    pairs_.push_back({c.ns, b});
    return std::nullopt;
  }
  // A first reading of the baseline tells how long a trusted worker takes to wake up.
  if (pairs_.empty() && baseline_wakes_.empty()) baseline();
  const auto c1 = candidate();
  if (c1.failure) return c1.failure;
  const double b1 = baseline();
  const double b2 = baseline();
  const auto c2 = candidate();
  if (c2.failure) return c2.failure;
  pairs_.push_back({0.5 * (c1.ns + c2.ns), 0.5 * (b1 + b2)});
  return std::nullopt;
}

}  // namespace kevo
