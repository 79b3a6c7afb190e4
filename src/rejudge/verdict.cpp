#include "src/rejudge/verdict.hpp"

#include <fmt/format.h>

#include "src/report/evaluation_text.hpp"

namespace kevo {
namespace {

// The interval of what counts; a score alone is a point.
interval range_of(const evaluation& e, bool speedups) {
  if (!speedups) return {e.score, e.score};
  if (e.speedup_interval.low > 0 && e.speedup_interval.high > 0) return e.speedup_interval;
  return {e.speedup, e.speedup};
}

std::string why_not_valid(const evaluation& e) {
  return fmt::format("{}: {}", to_string(e.outcome), failure_text(e));
}

}  // namespace

std::string_view to_string(rejudge_word word) {
  switch (word) {
    case rejudge_word::holds:
      return "holds";
    case rejudge_word::slower:
      return "slower";
    case rejudge_word::faster:
      return "faster";
    case rejudge_word::fell:
      return "fell";
    case rejudge_word::undecided:
      return "undecided";
  }
  return "";
}

rejudge_verdict compare(const evaluation& old, const evaluation& now) {
  if (!now.valid()) return {rejudge_word::fell, why_not_valid(now)};
  if (!old.device.empty() && !now.device.empty() && old.device != now.device)
    return {rejudge_word::undecided, "valid, but measured on a different device than before: " + old.device};
  const bool speedups = old.speedup > 0 && now.speedup > 0;
  if (speedups && old.baseline != now.baseline)
    return {rejudge_word::undecided,
            "valid, but compared with a different baseline than before: " + old.baseline};
  const interval before = range_of(old, speedups);
  const interval after = range_of(now, speedups);
  if (!(before.low > 0) || !(after.low > 0)) return {rejudge_word::undecided, "valid, but not timed"};
  const double low = after.low / before.high;
  const double high = after.high / before.low;
  if (high < 0.95) return {rejudge_word::slower, {}};
  if (low > 1.05) return {rejudge_word::faster, {}};
  if (low >= 0.9 && high <= 1.1) return {rejudge_word::holds, {}};
  return {
      rejudge_word::undecided,
      fmt::format("valid, but the intervals are too wide to decide: {:.2f} to {:.2f} times the earlier value",
                  low, high)};
}

}  // namespace kevo
