#pragma once
// The inputs and outputs of a search: its plug-ins (search_parts), its settings, and the jobs that it hands
// out.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include <kevo/archive.hpp>
#include <kevo/candidate.hpp>
#include <kevo/evaluate.hpp>
#include <kevo/event.hpp>
#include <kevo/filter.hpp>
#include <kevo/memory_store.hpp>
#include <kevo/portfolio.hpp>
#include <kevo/screen.hpp>
#include <kevo/select.hpp>
#include <kevo/stop.hpp>
#include <kevo/vary.hpp>
#include <kevo/verdict.hpp>

namespace kevo {

/// The task and the plug-ins of a search.
struct search_parts {
  std::shared_ptr<const kevo::task> task;  ///< passed to the operators; may be null
  any_selector select;                     ///< chooses the parents
  std::vector<any_variation> operators;    ///< at least one, if the search shall make new programs
  any_portfolio portfolio;                 ///< chooses the operator of each turn
  any_archive archive;                     ///< keeps the elites
  any_stop_rule stop;                      ///< an empty one never stops the search
  std::optional<filtering> filter{};       ///< drops proposals that are not worth an evaluation
  std::optional<screening> screen{};       ///< orders proposals before they are evaluated
  candidate_store store = memory_store();  ///< holds programs and evaluations
  std::vector<any_sink> sinks;             ///< receive all events, in their order
};

/// The settings of a search that are not plug-ins.
struct search_settings {
  std::uint64_t seed = 1;  ///< seed of all random numbers
  /// No turn begins while this many candidates wait for an evaluation. 0: for a single line of descent; no
  /// turn begins while a candidate waits, is being evaluated, or has to be confirmed before it is known
  /// whether it is better than the champion.
  std::size_t proposals_ahead = 4;
  /// An operator that had this many turns in a row without a new candidate rests until a new candidate joins
  /// the search or turns out to be valid, because it may then be a parent. After half of them it varies a
  /// random valid candidate instead of the first parent that the selector chose. A turn in which the operator
  /// reports `exhausted` counts as a fifth of this number, at least as one turn.
  std::uint32_t patience = 50;
  /// Relative gain over the best score that counts as an improvement for `progress::since_improvement`.
  double improvement_margin = 0.001;
  confirmation_rules confirm{};  ///< rules by which a candidate becomes champion
};

/// The kinds of jobs that the driver can take now. A search hands out only these; if it has none of them, it
/// returns a wait_job.
struct capacity {
  bool vary = true;      ///< whether a variation_job may be returned
  bool evaluate = true;  ///< whether an evaluation_job may be returned
  /// After a stop: whether seeds that are not evaluated yet, and proposals of operators with
  /// `evaluated_after_stop` (such as those that ask paid models), are evaluated before the search ends. A
  /// replay sets it to false where the recorded run continued without these evaluations.
  bool settle = true;
  /// With `settle`: also all other proposals of operators that are not replayable. A replay sets it where the
  /// recorded run, by an earlier version of kevo, evaluated such a proposal after a stop.
  bool settle_all = false;
};

/// A job for an operator: call `vary` with `request` and `random`.
struct variation_job {
  ticket id = 0;              ///< number by which the result is told
  operator_index op = 0;      ///< index into `search::operators()`
  variation_request request;  ///< the driver fills in `services` (see search::services)
  rng random;                 ///< stream of random numbers of this turn
  candidate_id known = 0;     ///< candidates with a smaller id were in the graph when the job was handed out
};
/// A job for the fitness function: call `evaluate` with `request`.
struct evaluation_job {
  ticket id = 0;  ///< number by which the result is told
  candidate_id candidate = no_candidate;
  evaluation_request request;
};
struct wait_job {};  ///< no job now; ask again when a result was told or the capacity has grown
struct stop_job {};  ///< the search hands out no more jobs; results of running jobs may still be told
/// The answer of `search::ask`.
using job = std::variant<variation_job, evaluation_job, wait_job, stop_job>;

}  // namespace kevo
