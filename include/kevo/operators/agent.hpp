#pragma once
// The operator `agent`: a language model reads, edits and evaluates drafts with tools until it submits one
// (AVO, arXiv 2603.24517). Compiled: link kevo::kevo.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include <kevo/fitness/draft_tools.hpp>
#include <kevo/operators/conversation.hpp>
#include <kevo/vary.hpp>

namespace kevo {

/// Limits of one turn, and when the supervisor intervenes: a conversation of its own with the model, which
/// suggests directions. The thresholds are those of AMD's port of AVO (geak-avo).
struct agent_limits {
  std::int64_t steps = 60;  ///< maximum number of model calls
  /// Maximum number of tokens read and written. Those that the server reports as read from its cache do not
  /// count: a conversation is sent again with each step.
  std::int64_t tokens = 500'000;
  /// Size of the conversation, in estimated tokens, from which it is shortened: results of tools that are
  /// older than the last steps become a line each. If that is not enough, the model writes notes, with which
  /// the conversation begins anew. Where a server says that its context is smaller, that counts.
  std::int64_t context = 100'000;
  double seconds = 1800;           ///< [s] maximum time of model calls and evaluations
  std::int64_t evaluations = 30;   ///< maximum number of drafts that are tested or timed
  std::int64_t compilations = 60;  ///< maximum number of drafts that are only compiled
  std::int64_t runs = 30;          ///< maximum number of programs of the model's own that are run
  std::int64_t stalled = 8;        ///< consecutive evaluations without a gain before an intervention
  std::int64_t failing = 5;        ///< consecutive evaluations that are not valid before an intervention
  std::int64_t repeated =
      3;  ///< uses of one tool (compile, test or time) on one program before an intervention
  std::int64_t interventions = 3;  ///< maximum number of interventions; the turn then ends
  /// Smallest relative gain that counts as a gain; a submission may be worse than the parent by at most this
  /// fraction.
  double margin = 0.001;
  /// Number of turns in a row without a proposal after which each further turn begins with a review by the
  /// supervisor; 0 disables this.
  std::int64_t fruitless_turns = 0;
};

/// What an agent keeps from one turn to the next. Guarded by `guard`.
struct agent_notes {
  std::mutex guard;            ///< held while the other members are read or written
  std::string text;            ///< the notes that the model wrote at the end of its last turn
  std::int64_t fruitless = 0;  ///< number of turns in a row that ended without a proposal
  std::int64_t context = 0;    ///< [tokens] of the model's server, as far as it said it; 0: not known
};

/// The operator. Tools of the model: list_files, read_file, write_file, edit_file, delete_file, grep, reset,
/// diff, read_lineage, read_candidate, search_knowledge, compile, test, time, compare, profile, submit; and,
/// where `tools` has them, run and assembly. `compile`, `test` and `time` call the run's fitness function up
/// to the stages built, checked and timed_full; a fitness function without stages does the whole evaluation
/// each time. A program can be submitted only if it was timed, is valid, and is not worse than the parent; if
/// an earlier draft of the turn was faster, the model has to insist. Files that the model wrote are a part of
/// the program if a file of the program names them. If a limit ends the turn, the best draft that is better
/// than the parent is proposed. The journal contains every message.
///
/// With `notes_bytes`, the model is asked at the end of each turn for notes: what was tried, with which
/// result, and what to try next, together with those earlier notes that are still true. The next turn and its
/// supervisor read them (AVO keeps one conversation for the whole run; notes are its bounded summary). A
/// resumed run repeats its recorded turns, which restores the notes. Copies of an agent share their notes. If
/// the conversation becomes too long, the notes are asked for at that time, too, and are kept whatever comes
/// of the turn.
struct agent {
  llm_settings with;    ///< the model and its prompts; `models` must not be null when `vary` is called
  agent_limits limits;  ///< limits of one turn
  std::size_t notes_bytes = 0;  ///< maximum size of the notes; 0 disables them
  /// Those of the run's fitness function; may be null. A repeated turn does not call them.
  std::shared_ptr<const draft_tools> tools = {};
  /// The notes of the last turn, shared by all copies.
  std::shared_ptr<agent_notes> notes = std::make_shared<agent_notes>();
  std::string name() const { return "agent"; }
  std::size_t concurrency() const { return with.concurrency; }
  bool replayable() const { return false; }
  variation_result vary(const variation_request& request, rng& random) const;
  void observe(const observation& seen) const { kevo::observe(*with.models, seen); }
};

}  // namespace kevo
