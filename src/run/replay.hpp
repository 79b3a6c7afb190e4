#pragma once
// Feeds a recorded run back into a search: to go on after a crash, or to prove that every decision is
// repeated.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <kevo/search.hpp>

namespace kevo {

/// Calls its argument with each event of a record, in order.
using event_source = std::function<void(const std::function<void(const event&)>&)>;

/// An evaluation that a variation made of a draft of its own.
using recorded_draft = std::pair<content_id, evaluation>;
/// Takes the first one of a program out of the list.
std::optional<evaluation> take_draft(std::vector<recorded_draft>& drafts, const content_id& id);

/// Runs an operator; what it throws, other than kevo::error, is its own failure and becomes a reason.
variation_result vary_or_fail(any_variation& op, const variation_request& request, rng& random);

struct replay_settings {
  /// Run replayable operators again and compare what they propose; otherwise their recorded proposals are
  /// taken.
  bool recompute_variations = true;
  /// Makes a variation of an operator that is not replayable once more, from what was recorded of it, so that
  /// the operator remembers what it remembered; nothing if that cannot be done. Empty: such variations are
  /// not made.
  std::function<std::optional<variation_result>(any_variation& op, variation_job& asked,
                                                std::vector<recorded_draft> drafts)>
      repeat;
  /// Compare what `repeat` gives with the record; otherwise the recorded proposals are taken.
  bool trust_repeated = false;
  /// Take every stop from the record: the stop rule may be another than the one that was in force. Otherwise
  /// the rule is asked again, up to the first resumption, and has to stop where it stopped.
  bool stops_from_record = false;
};

struct replay_report {
  std::uint64_t events = 0;     ///< how many were repeated
  std::vector<job> unfinished;  ///< asked for and never told: whoever goes on runs them first
  std::map<ticket, std::vector<recorded_draft>> drafts;  ///< of unfinished variations
  std::vector<event>
      unrecorded;  ///< follow from the last event and died with the process: whoever goes on records them
  double last_time_s = 0;  ///< [s] run time of the last event
  std::optional<std::string>
      divergence;  ///< the first decision that differs, in words; the replay stopped there
};

/// Replays `recorded` into `engine`, which must be new and made from the same config. Results come from the
/// record, decisions from the engine. `programs` finds recorded sources.
replay_report replay(search& engine, const event_source& recorded,
                     const std::function<std::shared_ptr<const program>(const content_id&)>& programs,
                     const replay_settings& settings = {});

/// One line that says what an event is, with everything that a replay compares.
std::string describe(const event& what);

}  // namespace kevo
