#pragma once
// What the cascades of checks of all devices have in common: how a failure is told, how pairs become a
// speedup, when an earlier result will do. Pure functions on an evaluation.

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <kevo/content_id.hpp>
#include <kevo/error.hpp>
#include <kevo/evaluate.hpp>
#include <kevo/evaluate/statistics.hpp>
#include <kevo/evaluation.hpp>
#include <kevo/task.hpp>

#include "fitness/machine/cores.hpp"

namespace kevo {

/// Why a call is not valid.
struct call_failure {
  kevo::outcome outcome = kevo::outcome::incorrect;
  std::string reason;    ///< short; names no sizes or numbers: may be told about hidden workloads, too
  std::string detail;    ///< for visible workloads: places and numbers
  bool machine = false;  ///< may be the machine's fault: ask the canary first
  bool again = false;    ///< the neighbours may have had a part in it: try once more
  bool room = false;     ///< no memory on the device: a known program decides whose fault it is
};

/// The value of a formula of the task's cost model on a workload; 0 without a formula.
double cost_of(const task& t, const std::optional<expression>& formula, std::size_t workload);

/// A result for each workload that says what is known before anything was run.
std::vector<workload_result> blank_results(const task& t);

/// The outcome of a failed call of that workload. A hidden one tells nothing but that it failed.
void tell_failure(evaluation& e, std::size_t index, const workload& w, const call_failure& failure);

/// One evaluation on its way through the cascade.
struct cascade_state {
  const evaluation_request& request;
  evaluation result;
  std::vector<double> call_ns = {};  ///< of one call of each workload; 0 if unknown
  bool machine = false;              ///< the failure may be the machine's
  bool again = false;                ///< or the neighbours'
};

/// A call has failed.
void fail(cascade_state& p, std::size_t index, const workload& w, const call_failure& failure);

/// The program cannot be built, or is not even tried. @param reasons at least one @param feedback empty: the
/// first reason
void tell_build_failure(evaluation& e, std::vector<std::string> reasons, std::string feedback = {});

/// Why no compiler is given this source; empty if nothing is wrong.
std::string why_unbuildable(const program& source, std::size_t most_bytes);

/// A baseline is wrong, which was built. @param w where
error baseline_error(const task& t, const std::string& name, const workload& w, const call_failure& failure);

/// @throws kevo::error (input) if none was built
void require_baseline(const task& t, bool built);

/// Pairs of one visible workload, in the order of time.
struct timed_pairs {
  std::size_t workload = 0;
  const std::vector<timing_pair>* pairs = nullptr;
  double speed_of_light_ns = 0;  ///< 0 if unknown
  std::size_t per_process = 1;   ///< so many pairs in a row are of the same processes, and count as one
  /// Pairs whose numbers differ by a multiple of this have their code at the same places, and count as one;
  /// 0: none do.
  std::size_t placements = 0;
  /// Standard deviation of what one process adds to a time and another does not, where all pairs are of the
  /// same processes. [ns]
  double process_spread_ns = 0;
  /// Part of the candidate's times that a second clock saw and the first did not. The estimate and the lower
  /// end of its interval contain it; the upper end does not, because another process might not show it. [ns]
  double doubtful_ns = 0;
  /// What of a time can be spared without any work: by programs that signal faster than others. The lower end
  /// of the interval is that of a candidate whose times are so much longer. [ns]
  double signals_ns = 0;
  /// Where the pairs are of the candidate and another program than the baseline: the speedup of that program
  /// over the baseline. Both estimates are chained (an indirect comparison: Bucher et al. 1997).
  std::optional<estimate> comparator;
  /// The number of batches of the intervals (kevo::location) for that many pairs; null: the usual one.
  std::size_t (*batches)(std::size_t pairs) = nullptr;
  /// Pairs do not depend on the ones before: the interval of the speedup is `positive_signed_rank`'s.
  bool independent = false;
};

/// Estimates times and speedups from all pairs so far. @param alpha error probability of the intervals
/// @return whether the interval of the speedup is narrower than `target`, relative
bool estimate_all(evaluation& e, const task& t, const std::vector<timed_pairs>& timed, double alpha,
                  double target);

/// Whether the interval of each speedup has two ends: fewer than three independent pairs have none.
bool has_intervals(const evaluation& e);

/// Takes down the speedup over a further baseline. One whose interval has no end is left out, and the
/// context says so. @param against what `estimate_all` made of the pairs with that baseline
void keep_other_speedup(evaluation& e, const std::string& name, const evaluation& against);

/// Adds a wait for other processes to the evaluation's cost, and to its context if it took a second or more.
void tell_wait(evaluation& e, const measuring_lock& lock);

/// How many pairs were thrown away; over a tenth is ambiguous.
void tell_discarded(evaluation& e, std::size_t discarded, std::size_t kept);

/// A time below what a device can do is suspect. @param minimum_ns of a workload, 0 if unknown
/// @return whether all times are possible
bool all_possible(evaluation& e, const std::function<double(std::size_t)>& minimum_ns,
                  const std::string& device);

/// A failure that could be the machine's counts as the candidate's only if a program that is known to be good
/// still runs. @param canary how that failed, if it did. @throws kevo::error (environment) if it did
void require_order(const std::optional<call_failure>& canary, const std::string& device);

/// The last step: a failure has no speedup, a valid evaluation its feedback, score and share of speed of
/// light.
void conclude(evaluation& e);

/// Whether the candidate may be the best, by its interval so far. @param promising share of the best speedup
bool may_be_best(const evaluation& e, const evaluation_request& request, double promising);

/// Whether an earlier evaluation answers this request.
bool is_enough(const evaluation& found, const evaluation_request& request, double promising);

/// The key of an evaluation in a cache. @param identity all that it depends on besides the program
content_id result_key(const std::string& backend, const std::string& protocol, const program& candidate,
                      const std::string& identity);

}  // namespace kevo
