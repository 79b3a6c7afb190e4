#include "fitness/cpu/paired.hpp"

#include <algorithm>
#include <cmath>
#include <span>

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
      workload_(workload),
      contents_(&contents),
      plan_(plan),
      limit_(limit) {}

void paired_timer::select() {
  const bool intervals = plan_.mode == clock_mode::intervals;
  const auto slots = [&](int calls) { return intervals ? static_cast<std::size_t>(calls) : std::size_t{3}; };
  candidate_->select(workload_, contents_, slots(plan_.candidate_calls));
  baseline_->select(workload_, contents_, slots(plan_.baseline_calls));
  if (intervals) {
    empty_->select(workload_, contents_, slots(std::max(plan_.candidate_calls, plan_.baseline_calls)));
  }
}

// What an interval of the empty program takes, per call.
double paired_timer::constant_of(int calls) {
  const auto time = empty_->interval(static_cast<std::size_t>(calls), limit_ * calls);
  if (time.failure) trusted_failed("empty program", *time.failure);
  return time.ns / time.calls;
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
  return {time.ns / time.calls - constant, std::nullopt};
}

std::optional<call_failure> paired_timer::block() {
  double constant_candidate = 0;
  double constant_baseline = 0;
  if (plan_.mode ==
      clock_mode::intervals) {  // beside each block; the median of all so far is what is subtracted
    for (int i = constants_candidate_.empty() ? 5 : 1; i > 0; --i) {
      constants_candidate_.push_back(constant_of(plan_.candidate_calls));
      constants_baseline_.push_back(plan_.baseline_calls == plan_.candidate_calls
                                        ? constants_candidate_.back()
                                        : constant_of(plan_.baseline_calls));
    }
    constant_candidate = median(constants_candidate_);
    constant_baseline = median(constants_baseline_);
  }
  const auto keep = [&](double candidate_ns, double baseline_ns) -> std::optional<call_failure> {
    if (candidate_ns > 0 && baseline_ns > 0) {
      pairs_.push_back({candidate_ns, baseline_ns});
      return std::nullopt;
    }
    ++discarded_;
    if (baseline_ns > 0) ++candidate_discarded_;
    if (discarded_ <= 10 + 2 * static_cast<int>(pairs_.size())) return std::nullopt;
    // Only the candidate has no time: that is its own contradiction (work outside of the clock), and must not
    // be able to halt a run as a fault of the machine would. The canary is asked, and it is tried once more.
    if (4 * candidate_discarded_ > 3 * discarded_) {
      return call_failure{outcome::suspect, "took no longer than a program that does nothing", "", true};
    }
    throw error(error_code::environment,
                "the machine is too busy to take a time: most blocks took no longer than the empty program",
                {}, "end what else runs here, or use larger workloads");
  };
  const auto candidate = [&] { return read(*candidate_, plan_.candidate_calls, constant_candidate); };
  const auto baseline = [&] {
    auto result = read(*baseline_, plan_.baseline_calls, constant_baseline);
    if (result.failure) trusted_failed("baseline", *result.failure);
    return result.ns;
  };
  if (plan_.half) {
    const double b = baseline();
    const auto c = candidate();
    if (c.failure) return c.failure;
    return keep(c.ns, b);
  }
  // B C C B and C B B C in turn; the baseline first, for it tells how long a trusted worker takes to wake up.
  const bool baseline_outside = (pairs_.size() + static_cast<std::size_t>(discarded_)) % 2 == 0;
  double b = 0;
  double c = 0;
  for (const bool outer : {true, false, false, true}) {
    if (outer == baseline_outside) {
      b += 0.5 * baseline();
      continue;
    }
    const auto once = candidate();
    if (once.failure) return once.failure;
    c += 0.5 * once.ns;
  }
  return keep(c, b);
}

std::variant<double, call_failure> paired_timer::sustained(double seconds) {
  const bool intervals = plan_.mode == clock_mode::intervals;
  const double constant = intervals && !constants_candidate_.empty() ? median(constants_candidate_) : 0;
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed_s = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  std::vector<double> times;
  while (times.size() < 3 || elapsed_s() < seconds) {
    const auto once = read(*candidate_, plan_.candidate_calls, constant);
    if (once.failure) return *once.failure;
    times.push_back(once.ns);
  }
  const auto last = std::span(times).last(std::max<std::size_t>(1, times.size() / 3));
  return std::max(0.0, median({last.begin(), last.end()}));
}

}  // namespace kevo
