#include "fitness/cuda/measure/reading_plans.hpp"

#include <algorithm>
#include <cmath>

#include "fitness/cuda/wire/worker_protocol.hpp"

namespace kevo::cuda {
namespace {

constexpr double goal_ns = 150e3;       // of one reading of several calls
constexpr double cold_goal_ns = 100e3;  // of the calls whose median is one cold reading
constexpr std::uint32_t most_calls = 32;
constexpr double shortest_ns = 500;    // a call that is planned for
constexpr double interval_ns = 2.2e6;  // at least 2 ms, and what the estimate of a call is wrong by

}  // namespace

reading_plan plan_readings(double candidate_ns, double baseline_ns, bool cold, bool alone,
                           std::uint32_t contents, std::uint32_t room) {
  const double shorter = std::max(std::min(candidate_ns, baseline_ns), shortest_ns);
  reading_plan plan;
  plan.cold = cold;
  if (cold || alone) {
    plan.repeats = static_cast<int>(std::clamp(std::ceil(cold_goal_ns / shorter), 1.0, 5.0));
    return plan;
  }
  // Half of them, so that one process serves a block of two readings.
  const double most =
      std::clamp(std::min<double>(contents / 2.0, room), 1.0, static_cast<double>(most_calls));
  plan.calls = static_cast<std::uint32_t>(std::clamp(std::ceil(goal_ns / shorter), 1.0, most));
  return plan;
}

std::uint32_t most_calls_of_reading(double least_ns) {
  const double calls = std::ceil(goal_ns / std::max(least_ns, shortest_ns));
  return static_cast<std::uint32_t>(std::clamp(calls, 1.0, static_cast<double>(most_calls)));
}

reading_plan plan_intervals(double candidate_ns, double baseline_ns, bool cold, std::uint32_t contents,
                            std::uint32_t room) {
  const double shorter = std::max(std::min(candidate_ns, baseline_ns), shortest_ns);
  reading_plan plan;
  plan.cold = cold;
  // One is for the untimed first call of a process.
  const double most = std::clamp(std::min<double>(contents, most_slots) - 1, 1.0, std::max<double>(room, 1));
  plan.calls = static_cast<std::uint32_t>(std::clamp(std::ceil(interval_ns / shorter), 1.0, most));
  return plan;
}

reading_plan plan_python_intervals(double candidate_ns, double baseline_ns, bool cold, std::uint32_t contents,
                                   std::uint32_t room) {
  constexpr std::uint32_t first_calls = 4;
  constexpr std::uint32_t enough_contents = 100;
  reading_plan plan;
  plan.cold = cold;
  plan.slow_start = true;
  plan.pairs = contents >= enough_contents ? 4 : 2;
  // One process serves a block, and has one call more, its first.
  const auto most = std::min({(contents - 1) / plan.pairs, room, static_cast<std::uint32_t>(most_slots)});
  plan.untimed = std::min(first_calls, most / 4);
  const double shorter = std::max(std::min(candidate_ns, baseline_ns), shortest_ns);
  const double left = std::max(1.0, static_cast<double>(most) - plan.untimed);
  plan.calls = static_cast<std::uint32_t>(std::clamp(std::ceil(python_interval_ns / shorter), 1.0, left));
  return plan;
}

}  // namespace kevo::cuda
