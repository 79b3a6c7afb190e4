#pragma once
// Feeds a recorded run back into a search: to go on after a crash, or to prove that every decision is
// repeated.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <kevo/search.hpp>

namespace kevo {

/// Calls its argument with each event of a record, in order.
using event_source = std::function<void(const std::function<void(const event&)>&)>;

struct replay_settings {
  /// Run replayable operators again and compare what they propose; otherwise their recorded proposals are
  /// taken.
  bool recompute_variations = true;
};

struct replay_report {
  std::uint64_t events = 0;     ///< how many were repeated
  std::vector<job> unfinished;  ///< asked for and never told: whoever goes on runs them first
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
