#pragma once
// Takes pairs of all workloads until the speedup is known well enough: one loop for all devices.

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <optional>
#include <span>
#include <stop_token>
#include <variant>

#include <kevo/error.hpp>
#include <kevo/evaluation.hpp>

#include "fitness/cascade/cascade.hpp"
#include "fitness/timing/looks.hpp"
#include "src/base/time/seconds_since.hpp"

namespace kevo {

/// Times the pairs of one workload.
template <class S>
concept sampler = requires(S& s, const S& c) {
  { c.workload() } -> std::convertible_to<std::size_t>;
  { c.pairs_so_far() } -> std::convertible_to<int>;
  /// Makes its programs ready, after another sampler was at work.
  { s.select() } -> std::same_as<void>;
  /// One pair more, or several, or why the candidate is not valid. Of a block that was disturbed, none.
  { s.sample() } -> std::same_as<std::optional<call_failure>>;
  /// What `sample` has done besides timing so far. [s]
  { c.other_s() } -> std::convertible_to<double>;
};

/// One workload while it is timed.
template <sampler S>
struct timed_workload {
  S sampler;
  double spent_s = 0;
};

/// The candidate failed on a workload.
struct timing_failure {
  std::size_t workload = 0;
  call_failure failure;
};

/// Takes pairs until there are so many, or time is over. @throws kevo::error (interrupted)
template <sampler S>
std::optional<timing_failure> take_pairs(timed_workload<S>& one, const timing_looks& looks, int wanted,
                                         const std::stop_token& stop) {
  const bool first = wanted == looks.first;
  const double seconds = first ? looks.first_s : looks.seconds;
  auto& sampler = one.sampler;
  sampler.select();
  for (int pairs = sampler.pairs_so_far(); pairs < wanted; pairs = sampler.pairs_so_far()) {
    if (pairs >= least_pairs(looks, first, pairs, one.spent_s) && time_is_over(pairs, one.spent_s, seconds))
      break;
    if (stop.stop_requested()) throw error(error_code::interrupted, "the evaluation was stopped");
    const auto start = std::chrono::steady_clock::now();
    const double other_s = sampler.other_s();
    if (auto failure = sampler.sample()) return timing_failure{sampler.workload(), *failure};
    one.spent_s += seconds_since(start) - (sampler.other_s() - other_s);
  }
  return std::nullopt;
}

/// How a timing ended.
struct timing_end {
  bool narrow = false;    ///< the interval is narrower than what is wanted
  bool at_first = false;  ///< at the first look
  /// What an evaluation has been through: a timing that ended at its first look without a narrow interval was
  /// a short one.
  evaluation_stage stage() const {
    return at_first && !narrow ? evaluation_stage::timed_short : evaluation_stage::timed_full;
  }
};

/// @param estimate computes the interval of a given error probability from all pairs so far, and answers
/// whether it is narrow @param promises whether the candidate may be among the best by the latest interval
/// @throws kevo::error (interrupted)
template <sampler S, std::predicate<double> Estimate, std::predicate Promises>
std::variant<timing_end, timing_failure> time_by_looks(std::span<timed_workload<S>> all,
                                                       const timing_looks& looks, double alpha,
                                                       const std::stop_token& stop, Estimate&& estimate,
                                                       Promises&& promises) {
  for (int pairs = looks.first, before = 0;; pairs = pairs_of_next_look(pairs, looks.last)) {
    for (auto& one : all) {
      if (auto failure = take_pairs(one, looks, pairs, stop)) return *failure;
    }
    timing_end end{.at_first = pairs == looks.first};
    if (looks.by_standing && looks.first < looks.last) {
      estimate(alpha_of_standing(looks, alpha, pairs, before));
      if (!promises()) return end;
    }
    end.narrow = estimate(alpha_of_width(looks, alpha));
    if (end.narrow || pairs >= looks.last) return end;
    const bool late = !end.at_first && std::all_of(all.begin(), all.end(), [&](const auto& one) {
      const int taken = one.sampler.pairs_so_far();
      return taken >= least_pairs(looks, false, taken, one.spent_s) &&
             time_is_over(taken, one.spent_s, looks.seconds);
    });
    if (late) return end;
    before = pairs;
  }
}

}  // namespace kevo
