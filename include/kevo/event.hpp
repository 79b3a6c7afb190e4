#pragma once
// Events of a search, and the sink: the role that receives them. Journal, display, report and trainer are
// sinks.

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <kevo/archive.hpp>
#include <kevo/candidate.hpp>
#include <kevo/evaluation.hpp>
#include <kevo/filter.hpp>
#include <kevo/ledger.hpp>
#include <kevo/select.hpp>
#include <kevo/verdict.hpp>

namespace kevo {

/// Number of a job within its run, from 1, in the order in which the search handed out its jobs.
using ticket = std::uint64_t;

/// A program given by the user became a candidate.
struct seeded {
  candidate_id candidate = no_candidate;
  content_id program;
};
/// The search decided on a turn of an operator, and handed it out as `job`.
struct variation_asked {
  ticket job = 0;
  kevo::selection selection;          ///< what the selector chose: parents, inspirations and scope
  operator_index op = seed_operator;  ///< the operator that the portfolio chose
};
/// A turn ended, or has proposed a further program (see `further`). `candidate` is the new candidate; if
/// `duplicate` is true, the known candidate with the same program; `no_candidate` if the operator proposed
/// nothing.
struct variation_told {
  ticket job = 0;
  std::optional<content_id> program;  ///< the proposed program; nothing if there is none
  candidate_id candidate = no_candidate;
  bool duplicate = false;    ///< whether the program was in the search graph already
  std::string summary;       ///< summary of the proposal, or the reason why there is none
  bool exhausted = false;    ///< the operator has nothing left to propose in this run
  spending cost;             ///< what the turn spent
  std::string transcript;    ///< what the operator noted while it worked
  std::uint32_t sample = 0;  ///< `proposal::sample` of the program
  /// Whether this is a further program of a turn that has not ended: its last program, or the reason why
  /// there is none, is told later. Costs and transcript are told with the last one.
  bool further = false;
};
/// The search decided on an evaluation. It hands it out as `job`, now or as soon as the driver can evaluate.
struct evaluation_asked {
  ticket job = 0;
  candidate_id candidate = no_candidate;
  evaluation_stage wanted = evaluation_stage::timed_full;
  bool fresh = false;  ///< a re-evaluation that the selector asked for, or a further confirmation
};
/// An evaluation ended. `archived` is the answer of the archive.
struct evaluation_told {
  ticket job = 0;
  candidate_id candidate = no_candidate;
  evaluation_stage wanted = evaluation_stage::timed_full;
  std::shared_ptr<const evaluation> result;
  archive_result archived;
};
/// An operator evaluated a draft during the turn `job`. This does not make the draft a candidate.
struct draft_evaluated {
  ticket job = 0;
  content_id program;
  std::shared_ptr<const evaluation> result;
};
/// A candidate became the champion by its confirmation, or the figures of the champion changed after a
/// further confirmation. `no_candidate`: in a further confirmation the champion was incorrect, rejected or
/// suspect, and there is no champion now.
struct champion_crowned {
  candidate_id candidate = no_candidate;
  double speedup = 0;          ///< as champion::speedup
  interval speedup_interval;   ///< as champion::speedup_interval
  champion_verdict verdict{};  ///< whether the speedup is confirmed or undecided
};
/// A valid candidate was found to be the program of the baseline that its speedup is relative to. It never
/// becomes champion.
struct baseline_met {
  candidate_id candidate = no_candidate;
  std::string baseline;  ///< name of the baseline; may be empty
};
/// The proposal filter decided about a batch of proposals. `passed` is in the order of evaluation; dropped
/// proposals are never evaluated.
struct proposals_filtered {
  std::vector<candidate_id> passed;
  std::vector<dropped_proposal> dropped;
};
/// The search stopped: no turn begins any more. Results of running jobs can follow, as well as
/// evaluations of seeds and of proposals that are expensive to make again, confirmations, and the events that
/// these cause.
struct search_stopped {
  std::string reason;     ///< for the user, for example "400 evaluations"
  bool external = false;  ///< ended by the driver of the search (for example Ctrl-C), not by a stop rule or
                          ///< because nothing was left to do
};
/// The search continues after it had stopped (for example, with a larger budget) or after its process had
/// died.
struct search_resumed {
  std::string reason;  ///< for the user
};

/// One event of a run. Events are numbered from 1, without gaps.
struct event {
  std::uint64_t sequence = 0;  ///< number of the event
  double time_s = 0;           ///< [s] run time: the `now_s` of the call of the search that caused the event
  std::variant<seeded, variation_asked, variation_told, evaluation_asked, evaluation_told, draft_evaluated,
               champion_crowned, search_stopped, search_resumed, baseline_met, proposals_filtered>
      payload;
};

/// A sink: an object that receives events. `consume` is called on the coordinator's thread, in the order of
/// the events. Optional: `close()`, called once, at the end.
template <class T>
concept sink = requires(T& listener, const event& what) {
  listener.consume(what);
};

/// Type-erased sink. Copies share one object.
class any_sink {
 public:
  any_sink() = default;
  template <class T>
  requires(!std::same_as<std::remove_cvref_t<T>, any_sink> && sink<std::remove_cvref_t<T>>)
      any_sink(T&& listener)  // NOLINT(google-explicit-constructor,bugprone-forwarding-reference-overload)
      : any_sink(std::make_shared<std::remove_cvref_t<T>>(std::forward<T>(listener))) {}
  /// Shares an existing object.
  template <sink T>
  explicit any_sink(std::shared_ptr<T> listener)
      : consume_([listener](const event& what) { listener->consume(what); }), close_([listener] {
          if constexpr (requires { listener->close(); }) listener->close();
        }) {}

  /// Passes an event to the object.
  void consume(const event& what) const { consume_(what); }
  /// Tells the object that no event follows; does nothing if it has no `close`.
  void close() const { close_(); }

 private:
  std::function<void(const event&)> consume_;
  std::function<void()> close_;
};

}  // namespace kevo
