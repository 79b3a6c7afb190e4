#pragma once
// The verdict on a champion's figure: may it be called confirmed, or is it undecided, and why. A pure
// function of the figure, its interval and a limit, so that a replay and a report come to the same word.

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

#include <kevo/evaluation.hpp>

namespace kevo {

enum class verdict_word : std::uint8_t {
  confirmed,  ///< the figure holds as its interval says; a score without an interval is always confirmed
  undecided,  ///< measured in fresh processes, but the interval does not allow a conclusion
};

/// Whether an outcome is a judgement of the program: its output is wrong, it did something forbidden, or its
/// time is not possible. The other failures of a program that was valid before may be the machine's.
inline constexpr bool convicts(outcome o) {
  return o == outcome::incorrect || o == outcome::rejected || o == outcome::suspect;
}

/// Why a figure is undecided.
enum class verdict_reason : std::uint8_t {
  none,          ///< it is confirmed
  contains_one,  ///< the interval contains 1: neither faster nor slower than the baseline is shown
  wide,          ///< the interval is wider than the limit
  failed,        ///< a further confirmation of the champion was not valid (it crashed or timed out)
};

inline constexpr std::array<std::string_view, 2> verdict_word_names = {"confirmed", "undecided"};
inline constexpr std::array<std::string_view, 4> verdict_reason_names = {"none", "contains_one", "wide",
                                                                         "failed"};

inline constexpr std::string_view to_string(verdict_word w) {
  return verdict_word_names[static_cast<std::size_t>(w)];
}
inline constexpr std::string_view to_string(verdict_reason r) {
  return verdict_reason_names[static_cast<std::size_t>(r)];
}
inline constexpr std::optional<verdict_reason> parse_verdict_reason(std::string_view name) {
  for (std::size_t i = 0; i < verdict_reason_names.size(); ++i) {
    if (verdict_reason_names[i] == name) return static_cast<verdict_reason>(i);
  }
  return std::nullopt;
}

/// What is said of a champion.
struct champion_verdict {
  verdict_reason reason = verdict_reason::none;
  double widest = 0;  ///< the limit that was applied: width of the interval over the figure; 0 if none was

  verdict_word word() const {
    return reason == verdict_reason::none ? verdict_word::confirmed : verdict_word::undecided;
  }
  bool confirmed() const { return word() == verdict_word::confirmed; }
  friend bool operator==(const champion_verdict&, const champion_verdict&) = default;
};

/// When a figure may be called confirmed, and how much is measured until it may.
struct confirmation_rules {
  /// False: every valid confirmation counts as confirmed, and nothing is measured again. Journals that do not
  /// hold these rules were made so, and are replayed so.
  bool decides = true;
  double widest = 0.10;  ///< largest width of a confirmed interval, as a share of the figure
  int further = 3;       ///< most further confirmations of one candidate while it is undecided

  /// How often one candidate may be confirmed.
  int looks() const { return decides ? 1 + further : 1; }
};

/// Whether anything is said of the spread of a speedup: without a speedup, or with an interval without a
/// width, a score is only a score.
inline bool has_interval(double speedup, const interval& range) {
  return speedup > 0 && !(range.low == range.high);
}

/// The width of an interval as a share of the figure; NaN and infinity where an end is unknown.
inline double relative_width(double speedup, const interval& range) {
  return (range.high - range.low) / speedup;
}

inline champion_verdict verdict_on(double speedup, const interval& range, const confirmation_rules& rules) {
  if (!rules.decides) return {};
  champion_verdict verdict{.widest = rules.widest};
  if (!has_interval(speedup, range)) return verdict;
  if (range.low <= 1 && range.high >= 1) {
    verdict.reason = verdict_reason::contains_one;
  } else if (!(relative_width(speedup, range) <= rules.widest)) {
    verdict.reason = verdict_reason::wide;
  }
  return verdict;
}

/// The verdict on a valid evaluation of the confirmed stage, or on the pool of several (evaluate/pooled.hpp).
inline champion_verdict verdict_on(const evaluation& e, const confirmation_rules& rules) {
  return verdict_on(e.speedup, e.speedup_interval, rules);
}

}  // namespace kevo
