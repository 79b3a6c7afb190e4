#pragma once
// Turns of operators that asked language models, made once more from the journal: with the recorded replies
// and the recorded evaluations of drafts, so that operators and models learn again what they had learned.

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include <kevo/ledger.hpp>

#include "src/journal/journal.hpp"
#include "src/run/replay.hpp"

namespace kevo {

class language_models;

/// For the coordinator's thread. Keeps a number a call in memory; calls are read when their turn comes.
class recorded_turns {
 public:
  recorded_turns(const journal& record, std::shared_ptr<language_models> models);

  /// Whether the journal holds calls of this turn.
  bool holds(ticket turn) const { return calls_.contains(turn); }
  /// Makes a turn again. Nothing if the journal holds no call of it, or if it was cancelled: that it was is
  /// no decision of the operator's.
  std::optional<variation_result> repeat(any_variation& op, variation_job& asked,
                                         std::vector<recorded_draft> drafts) const;
  /// Prepares an unfinished turn to go on where it was: its first calls are answered from the journal. The
  /// result is what they cost.
  spending prepare(ticket turn) const;

 private:
  std::vector<model_call> calls_of(ticket turn) const;
  const journal& record_;
  std::shared_ptr<language_models> models_;
  std::unordered_map<ticket, std::vector<std::int64_t>> calls_;  ///< row numbers
};

}  // namespace kevo
