#pragma once
// What goes into a search and what comes out of it: its plug-ins, its settings, its jobs.

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
#include <kevo/memory_store.hpp>
#include <kevo/portfolio.hpp>
#include <kevo/screen.hpp>
#include <kevo/select.hpp>
#include <kevo/stop.hpp>
#include <kevo/vary.hpp>
#include <kevo/verdict.hpp>

namespace kevo {

/// The plug-ins of a search.
struct search_parts {
  std::shared_ptr<const kevo::task> task;
  any_selector select;
  std::vector<any_variation> operators;
  any_portfolio portfolio;
  any_archive archive;
  any_stop_rule stop;
  std::optional<screening> screen{};  ///< orders proposals before they are evaluated
  candidate_store store = memory_store();
  std::vector<any_sink> sinks;
};

struct search_settings {
  std::uint64_t seed = 1;
  std::size_t proposals_ahead = 4;  ///< candidates that may wait for an evaluation before variation pauses
  std::uint32_t patience =
      50;  ///< fruitless turns in a row after which an operator rests until something new joins; after half
           ///< of them it varies any valid candidate instead of those that the selector chooses
  double improvement_margin =
      0.001;  ///< relative gain in score that counts as an improvement for `since_improvement`
  confirmation_rules confirm{};
};

/// Which kinds of job the driver can take now. A search hands out no other kind: if there is nothing that
/// fits, it answers that the driver must wait.
struct capacity {
  bool vary = true;
  bool evaluate = true;
  /// After a stop: evaluate the seeds that still wait, and what models were paid for, before the search ends.
  /// A replay says no where its record went on without them.
  bool settle = true;
};

struct variation_job {
  ticket id = 0;
  operator_index op = 0;
  variation_request request;  ///< `services` is the driver's to attach (see search::services)
  rng random;
  candidate_id known = 0;  ///< candidates with a smaller id were in the graph when this was asked
};
struct evaluation_job {
  ticket id = 0;
  candidate_id candidate = no_candidate;
  evaluation_request request;
};
struct wait_job {};  ///< nothing to hand out until something is told
struct stop_job {};  ///< nothing will be handed out any more; results that are still out may be told
using job = std::variant<variation_job, evaluation_job, wait_job, stop_job>;

}  // namespace kevo
