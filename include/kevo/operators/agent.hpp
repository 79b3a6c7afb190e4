#pragma once
// Variation by an agent: a model that reads, edits and evaluates in a loop until it submits (AVO, arXiv
// 2603.24517). Compiled: link kevo::kevo.

#include <cstddef>
#include <cstdint>
#include <string>

#include <kevo/operators/conversation.hpp>
#include <kevo/vary.hpp>

namespace kevo {

/// When it is enough, and when a supervisor speaks up. Thresholds after the geak-avo port of AVO: eight
/// evaluations without a gain of 0.1 %, five failures in a row, one program three times.
struct agent_limits {
  std::int64_t steps = 60;         ///< calls of the model
  std::int64_t tokens = 500'000;   ///< read and written
  double seconds = 1800;           ///< [s] that its model and its evaluations have taken
  std::int64_t evaluations = 30;   ///< of drafts: tests and timings
  std::int64_t compilations = 60;  ///< of drafts that are compiled alone
  std::int64_t stalled = 8;        ///< evaluations in a row without a gain
  std::int64_t failing = 5;        ///< evaluations in a row that are not valid
  std::int64_t repeated = 3;       ///< uses of one tool (compile, test or time) on one program
  std::int64_t interventions = 3;  ///< of the supervisor; then the turn ends
  double margin = 0.001;           ///< what a submission may be worse by, and what counts as a gain
};

/// Tools: list_files, read_file, write_file, edit_file, reset, diff, read_lineage, read_candidate,
/// search_knowledge, compile, test, time, profile, submit. `compile`, `test` and `time` are the run's own
/// fitness function, stopped at the stages built, checked and timed_full; one that has no such stages does
/// all of it each time. A submission counts only if it was timed, is valid and not worse than the parent; if
/// the limits end the turn, the best draft that is better than the parent is proposed. Every message is in
/// the journal.
struct agent {
  llm_settings with;
  agent_limits limits;
  std::string name() const { return "agent"; }
  std::size_t concurrency() const { return with.concurrency; }
  bool replayable() const { return false; }
  variation_result vary(const variation_request& request, rng& random) const;
  void observe(const observation& seen) const { kevo::observe(*with.models, seen); }
};

}  // namespace kevo
