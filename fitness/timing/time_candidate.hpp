#pragma once
// Timing a candidate that has been checked, as far as it is the same on all devices: what becomes of the end
// of a timing and of failures. `p` is the state of an evaluation, and `bench` what all evaluations of a task
// share.

#include <algorithm>
#include <cstddef>
#include <span>
#include <variant>

#include <kevo/error.hpp>

#include "fitness/cascade/cascade.hpp"
#include "fitness/timing/time_by_looks.hpp"

namespace kevo {

/// So many pairs more, because the ones so far have no interval: pairs that count as one may be too few,
/// however many they are. The looks before had no interval that could miss.
template <sampler S>
timing_looks further_pairs(timing_looks looks, std::span<const timed_workload<S>> all) {
  int most = fewest_pairs;
  for (const auto& [sampler, spent_s] : all) most = std::max(most, sampler.pairs_so_far());
  looks.first = looks.last = looks.first_least = looks.least = 2 * most;
  return looks;
}

/// @param look makes the estimate for an error probability, and answers whether its interval is narrow
/// @return false if the candidate failed
template <sampler S, class Bench, class State, std::predicate<double> Look>
bool time_by(const timing_looks& looks, const Bench& bench, State& p, std::span<timed_workload<S>> all,
             Look&& look) {
  constexpr int most_tries = 4;
  const auto& settings = bench.settings();
  auto planned = looks;
  for (int tries = 1;; ++tries) {
    const auto end = time_by_looks(all, planned, settings.timing.alpha, p.request.stop, look,
                                   [&] { return may_be_best(p.result, p.request, settings.promising); });
    if (const auto* failed = std::get_if<timing_failure>(&end))
      return fail(p, failed->workload, bench.subject().workloads[failed->workload], failed->failure), false;
    p.result.stage = looks.stage.value_or(std::get<timing_end>(end).stage());
    if (has_intervals(p.result)) return true;
    if (tries == most_tries)
      throw error(error_code::environment, "the pairs of readings are too few for an interval", {},
                  "end other programs on this machine, then continue with `kevo resume`");
    planned = further_pairs(planned, std::span<const timed_workload<S>>(all));
  }
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
