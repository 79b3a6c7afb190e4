#pragma once
// Events of a search, and the sink: the role that receives them (journal, display, report, trainer).

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
#include <kevo/ledger.hpp>
#include <kevo/select.hpp>
#include <kevo/verdict.hpp>

namespace kevo {

/// Number of a job within its run, from 1 in the order of asking.
using ticket = std::uint64_t;

/// A program given by the user became a candidate.
struct seeded {
  candidate_id candidate = no_candidate;
  content_id program;
};
/// A variation was decided.
struct variation_asked {
  ticket job = 0;
  kevo::selection selection;
  operator_index op = seed_operator;
};
/// A variation ended. `candidate` is the new one, or the known one if `duplicate`, or none with a `reason`.
struct variation_told {
  ticket job = 0;
  std::optional<content_id> program;
  candidate_id candidate = no_candidate;
  bool duplicate = false;
  std::string summary;  ///< of the proposal, or the reason why there is none
  bool exhausted = false;
  spending cost;
  std::string transcript;
};
/// An evaluation was decided.
struct evaluation_asked {
  ticket job = 0;
  candidate_id candidate = no_candidate;
  evaluation_stage wanted = evaluation_stage::timed_full;
  bool fresh = false;  ///< again: a selector's wish, or a further confirmation
};
/// An evaluation ended, with the answer of the archive.
struct evaluation_told {
  ticket job = 0;
  candidate_id candidate = no_candidate;
  evaluation_stage wanted = evaluation_stage::timed_full;
  std::shared_ptr<const evaluation> result;
  archive_result archived;
};
/// An operator evaluated a draft of its own.
struct draft_evaluated {
  ticket job = 0;
  content_id program;
  std::shared_ptr<const evaluation> result;
};
/// A candidate became the champion by its confirmation, or further confirmations gave the champion other
/// figures. Without a candidate: the champion was convicted in a further confirmation, and there is none.
struct champion_crowned {
  candidate_id candidate = no_candidate;
  double speedup = 0;
  interval speedup_interval;
  champion_verdict verdict{};
};
/// A valid candidate is the program of the baseline of its speedup: it is never champion.
struct baseline_met {
  candidate_id candidate = no_candidate;
  std::string baseline;  ///< its name; may be empty
};
/// The search ended; only results of jobs that were still running can follow.
struct search_stopped {
  std::string reason;
  bool external = false;  ///< ended by the driver of the search (for example Ctrl-C), not by a stop rule or
                          ///< because nothing was left to do
};
/// The search goes on after it had stopped (more budget) or after its process had died.
struct search_resumed {
  std::string reason;
};

/// One entry of the record of a run. Events are numbered without gaps, from 1.
struct event {
  std::uint64_t sequence = 0;
  double time_s = 0;  ///< [s] run time at which the search was told
  std::variant<seeded, variation_asked, variation_told, evaluation_asked, evaluation_told, draft_evaluated,
               champion_crowned, search_stopped, search_resumed, baseline_met>
      what;
};

/// A sink. `consume` is called on the coordinator's thread, in order. Optional: `close()`, once, at the end.
template <class T>
concept sink = requires(T& listener, const event& what) {
  listener.consume(what);
};

/// Any sink: a shared handle.
class any_sink {
 public:
  any_sink() = default;
  template <class T>
  requires(!std::same_as<std::remove_cvref_t<T>, any_sink> && sink<std::remove_cvref_t<T>>)
      any_sink(T&& listener)  // NOLINT(google-explicit-constructor,bugprone-forwarding-reference-overload)
      : any_sink(std::make_shared<std::remove_cvref_t<T>>(std::forward<T>(listener))) {}
  template <sink T>
  explicit any_sink(std::shared_ptr<T> listener)
      : consume_([listener](const event& what) { listener->consume(what); }), close_([listener] {
          if constexpr (requires { listener->close(); }) listener->close();
        }) {}

  void consume(const event& what) const { consume_(what); }
  void close() const { close_(); }

 private:
  std::function<void(const event&)> consume_;
  std::function<void()> close_;
};

}  // namespace kevo
