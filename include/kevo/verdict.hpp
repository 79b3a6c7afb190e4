#pragma once
// The verdict on a champion's speedup: whether it is confirmed or undecided, and why. It depends only on the
// speedup, its confidence interval and a limit, so that a replay and a report give the same verdict.

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

#include <kevo/evaluation.hpp>

namespace kevo {

/// The verdict on a speedup in one word.
enum class verdict_word : std::uint8_t {
  confirmed,  ///< the interval allows a conclusion; a score without an interval is always confirmed
  undecided,  ///< measured in fresh processes, but the interval does not allow a conclusion
};

/// Whether an outcome proves a fault of the program: its output is incorrect, it was rejected for cheating,
/// or its time is suspect. Other failures of a program that was valid before may be faults of the machine.
inline constexpr bool disqualifies(outcome o) {
  return o == outcome::incorrect || o == outcome::rejected || o == outcome::suspect;
}

/// Why a speedup is undecided.
enum class verdict_reason : std::uint8_t {
  none,          ///< the speedup is confirmed
  contains_one,  ///< the interval contains 1, so it does not show whether the program is faster
  wide,          ///< the interval is wider than `confirmation_rules::widest`
  failed,        ///< a further confirmation of the champion was not valid (it crashed or timed out)
};

/// The names of the words and of the reasons, in the order of their types.
inline constexpr std::array<std::string_view, 2> verdict_word_names = {"confirmed", "undecided"};
inline constexpr std::array<std::string_view, 4> verdict_reason_names = {"none", "contains_one", "wide",
                                                                         "failed"};

/// The name of a word or of a reason, as in the journal and in JSON output.
inline constexpr std::string_view to_string(verdict_word w) {
  return verdict_word_names[static_cast<std::size_t>(w)];
}
inline constexpr std::string_view to_string(verdict_reason r) {
  return verdict_reason_names[static_cast<std::size_t>(r)];
}
/// The inverse of `to_string`; nothing for an unknown name.
inline constexpr std::optional<verdict_reason> parse_verdict_reason(std::string_view name) {
  for (std::size_t i = 0; i < verdict_reason_names.size(); ++i) {
    if (verdict_reason_names[i] == name) return static_cast<verdict_reason>(i);
  }
  return std::nullopt;
}

/// The verdict on a champion's speedup, with its reason.
struct champion_verdict {
  verdict_reason reason = verdict_reason::none;  ///< `none` if the speedup is confirmed
  double widest = 0;  ///< `confirmation_rules::widest` as it was applied; 0 if no limit was applied

  /// The verdict in one word.
  verdict_word word() const {
    return reason == verdict_reason::none ? verdict_word::confirmed : verdict_word::undecided;
  }
  /// Whether the speedup is confirmed.
  bool confirmed() const { return word() == verdict_word::confirmed; }
  friend bool operator==(const champion_verdict&, const champion_verdict&) = default;
};

/// When a speedup is confirmed, and how often an undecided candidate is measured again.
struct confirmation_rules {
  /// If false, every valid confirmation counts as confirmed, and there are no further confirmations. Journals
  /// without these rules were recorded in this way and are replayed in this way.
  bool decides = true;
  double widest = 0.10;  ///< maximum width of the interval of a confirmed speedup, as a share of the speedup
  int further = 3;       ///< maximum number of further confirmations of one candidate while it is undecided
  /// Number of evaluations that must finish before a contender is confirmed, or before an undecided candidate
  /// is confirmed again. A better candidate may take its place during this wait: a run that improves quickly
  /// would otherwise spend its time on candidates that are soon surpassed. Each confirmation in a row that
  /// brings no new champion adds this number to the wait, up to eight times this number. If contenders
  /// replace each other, the wait ends after four times its length at the latest. There is no wait while
  /// there is no champion, or while there is nothing else to evaluate.
  int after = 0;

  /// The maximum number of confirmations of one candidate.
  int looks() const { return decides ? 1 + further : 1; }
};

/// Whether the uncertainty of a speedup is known: there is a speedup, and its interval has a width.
inline bool has_interval(double speedup, const interval& range) {
  return speedup > 0 && !(range.low == range.high);
}

/// The width of the interval as a share of the speedup; NaN or infinite if an end of the interval is so.
inline double relative_width(double speedup, const interval& range) {
  return (range.high - range.low) / speedup;
}

/// The verdict on a speedup with its confidence interval.
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

/// The verdict on a valid evaluation of the stage `confirmed`, or on several that were pooled
/// (evaluate/pooled.hpp).
inline champion_verdict verdict_on(const evaluation& e, const confirmation_rules& rules) {
  return verdict_on(e.speedup, e.speedup_interval, rules);
}

}  // namespace kevo
