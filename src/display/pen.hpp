#pragma once
// How panels are drawn: with the characters that the terminal has.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/style/styled_text.hpp"
#include "src/base/text/format.hpp"

namespace kevo::styled {

/// Everything that depends on the terminal and not on the run.
struct pen {
  bool unicode = true;

  std::string_view ellipsis() const { return unicode ? "…" : "~"; }
  std::string_view dot() const { return unicode ? " · " : " - "; }
  std::string safe(std::string_view text) const { return format::one_line(text, !unicode); }
  std::string speedup(double value) const { return format::speedup(value, unicode); }
  std::string figure(double speedup, double score) const { return format::figure(speedup, score, unicode); }
  std::string bare(double score, bool is_speedup) const {
    return format::bare_figure(score, is_speedup, unicode);
  }

  /// A bar of `width` columns, `share` of it full; in halves of a column where the terminal can.
  line bar(double share, std::size_t width, tone full) const {
    share = std::clamp(std::isfinite(share) ? share : 0.0, 0.0, 1.0);
    line result;
    if (!unicode) {
      const auto n = static_cast<std::size_t>(std::lround(share * static_cast<double>(width)));
      result.add(std::string(n, '#'), full).add(std::string(width - n, '.'), tone::faint);
      return result;
    }
    const auto halves = static_cast<std::size_t>(std::lround(share * static_cast<double>(width * 2)));
    std::string text, rest;
    for (std::size_t i = 0; i < halves / 2; ++i) text += "━";
    if (halves % 2 == 1) text += "╸";
    result.add(text, full);
    for (std::size_t i = result.width(); i < width; ++i) rest += "─";
    result.add(rest, tone::faint);
    return result;
  }
};
/// A box of exactly `width` columns around lines.
block boxed(const pen& with, std::string_view title, const line& note, const block& content,
            std::size_t width, std::size_t height);

/// A curve as `height` lines of block characters, on a logarithmic axis: of speedups from 1 (or less) up, of
/// other scores from the least; empty where there is no room or nothing to see.
block chart(const pen& with, const std::vector<double>& values, std::size_t width, std::size_t height,
            bool are_speedups = true);

}  // namespace kevo::styled
