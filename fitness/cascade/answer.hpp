#pragma once
// How a fitness function answers a request, whatever the device.

#include <chrono>
#include <concepts>
#include <utility>

#include <kevo/error.hpp>
#include <kevo/evaluate.hpp>

#include "fitness/cascade/cascade.hpp"
#include "src/base/time/seconds_since.hpp"

namespace kevo {

/// The second of two attempts has cost as much as both.
inline void add_cost(evaluation_cost& sum, const evaluation_cost& further) {
  sum.device_s += further.device_s;
  sum.waited_s += further.waited_s;
  for (const auto& [name, seconds] : further.parts_s) sum.parts_s[name] += seconds;
}

/// A second attempt where the first one may have failed for other reasons than the program.
/// @param attempt makes a state; is given what the first attempt came to, or null
template <class State, std::predicate<const State&> Doubtful, std::invocable<const State*> Attempt>
State attempted(const evaluation_request& request, Doubtful&& is_doubtful, Attempt&& attempt) {
  State first = attempt(static_cast<const State*>(nullptr));
  if (!request.second_try || !is_doubtful(first)) return first;
  State second = attempt(static_cast<const State*>(&first));
  add_cost(second.result.cost, first.result.cost);
  return second;
}

/// From an earlier evaluation, or by a new one, which is kept for later ones.
/// @param fitness has the `bench` of the task, the cache `results`, `key_of` a program, `judge`, which
/// evaluates it, static `is_doubtful` of what came of that, and `finish`, which says last what is known
/// besides
template <class Fitness>
evaluation answer(Fitness& fitness, const evaluation_request& request) {
  if (!request.program) throw error(error_code::usage, "an evaluation needs a program");
  const auto start = std::chrono::steady_clock::now();
  const double waited_s = fitness.bench.prepare(request.stop, request.waiting);
  const double prepared_s = seconds_since(start);
  const auto key = fitness.key_of(*request.program);
  if (!request.fresh && request.wanted != evaluation_stage::confirmed) {
    auto found = fitness.results.find(key);
    if (found && is_enough(*found, request, fitness.bench.settings().promising)) {
      found->cost.wall_s = found->cost.waited_s = waited_s;  // not what another evaluation has cost
      found->context.erase("waited");
      return std::move(*found);
    }
  }
  auto p = fitness.judge(request);
  auto& e = p.result;
  if (prepared_s > 1e-3) e.cost.parts_s["preparation of the task"] += prepared_s;
  e.cost.waited_s += waited_s;
  conclude(e);
  fitness.finish(p);
  e.cost.wall_s = seconds_since(start);
  // Who wants a second try must not get what the first one said.
  const bool settled = !Fitness::is_doubtful(p) || request.second_try;
  if (settled && e.outcome != outcome::unchecked) fitness.results.keep(key, e);
  return std::move(e);
}

}  // namespace kevo
