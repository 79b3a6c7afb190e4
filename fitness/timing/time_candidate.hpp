#pragma once
// Timing a candidate that has been checked, as far as it is the same on all devices: what becomes of the end
// of a timing and of failures. `p` is the state of an evaluation, and `bench` what all evaluations of a task
// share.

#include <cstddef>
#include <span>
#include <utility>
#include <variant>

#include "fitness/cascade/cascade.hpp"
#include "fitness/timing/time_by_looks.hpp"

namespace kevo {

/// @param look makes the estimate for an error probability, and answers whether its interval is narrow
/// @return false if the candidate failed
template <sampler S, class Bench, class State, std::predicate<double> Look>
bool time_by(const timing_looks& looks, const Bench& bench, State& p, std::span<timed_workload<S>> all,
             Look&& look) {
  const auto& settings = bench.settings();
  const auto end = time_by_looks(all, looks, settings.timing.alpha, p.request.stop, std::forward<Look>(look),
                                 [&] { return may_be_best(p.result, p.request, settings.promising); });
  if (const auto* failed = std::get_if<timing_failure>(&end))
    return fail(p, failed->workload, bench.subject().workloads[failed->workload], failed->failure), false;
  p.result.stage = looks.stage.value_or(std::get<timing_end>(end).stage());
  return true;
}

/// The candidate alone, as a champion would be used, if the settings want it.
/// @return false if it failed
template <sampler S, class Bench, class State>
bool time_alone(const Bench& bench, State& p, std::span<timed_workload<S>> all) {
  const double seconds = bench.settings().timing.sustained_s;
  if (!(seconds > 0)) return true;
  for (auto& [sampler, spent_s] : all) {
    sampler.select();
    const auto index = sampler.workload();
    const auto time = sampler.timer.sustained(seconds);
    if (const auto* failure = std::get_if<call_failure>(&time))
      return fail(p, index, bench.subject().workloads[index], *failure), false;
    p.result.workloads[index].sustained_ns = std::get<double>(time);
  }
  return true;
}

/// How many pairs of all workloads were thrown away.
template <sampler S>
void tell_discarded(evaluation& e, std::span<const timed_workload<S>> all) {
  std::size_t discarded = 0;
  std::size_t kept = 0;
  for (const auto& [sampler, spent_s] : all) {
    discarded += static_cast<std::size_t>(sampler.timer.discarded());
    kept += sampler.timer.pairs().size();
  }
  tell_discarded(e, discarded, kept);
}

}  // namespace kevo
