#pragma once
// An old evaluation of a program against a new one: does what was said of it still hold?

#include <cstdint>
#include <string>
#include <string_view>

#include <kevo/evaluation.hpp>

namespace kevo {

enum class rejudge_word : std::uint8_t {
  holds,      ///< valid, and as fast as it was said to be
  slower,     ///< valid, by more than 5 % less
  faster,     ///< valid, by more than 5 % more
  fell,       ///< not valid any more
  undecided,  ///< the intervals are too wide to tell, or the devices differ
};
std::string_view to_string(rejudge_word word);

struct rejudge_verdict {
  rejudge_word word = rejudge_word::undecided;
  std::string reason;  ///< of what fell or is undecided; else empty
};

/// The ratio of new to old speedup (or score, where there is no speedup) lies between new.low / old.high and
/// new.high / old.low. Below 0.95 as a whole: slower. Above 1.05: faster. Within 0.9 and 1.1: holds. Else
/// undecided. `old` must be valid.
rejudge_verdict compare(const evaluation& old, const evaluation& now);

}  // namespace kevo
