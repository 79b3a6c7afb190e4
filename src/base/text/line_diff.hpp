#pragma once
// Two texts side by side, line by line, with what changed marked and what did not folded.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kevo {

enum class diff_kind : unsigned char {
  same,
  changed,  ///< one line became another
  removed,  ///< left only
  added,    ///< right only
  folded,   ///< `left_line` .. are the same for `count` lines
};

/// One row of a side-by-side view. Line numbers count from 1; 0 where that side has no line.
struct diff_row {
  diff_kind kind = diff_kind::same;
  std::size_t left_line = 0;
  std::size_t right_line = 0;
  std::size_t count = 1;  ///< lines that a folded row stands for
  friend bool operator==(const diff_row&, const diff_row&) = default;
};

/// The lines of a text without their ends ("\n" or "\r\n"); no empty last line for a final line break.
std::vector<std::string_view> lines_of(std::string_view text);

/// A shortest edit script (Myers, "An O(ND) difference algorithm and its variations", Algorithmica 1986),
/// removed and added runs paired into changed rows. O((n + m) d) time and O(d^2) memory for d changed lines;
/// texts that differ in more than 2000 lines are told as wholly changed between their common ends.
std::vector<diff_row> diff_lines(const std::vector<std::string_view>& left,
                                 const std::vector<std::string_view>& right);

/// Runs of unchanged rows that are longer than twice `context` (+ 2) are folded to `context` rows around
/// changes.
std::vector<diff_row> fold(const std::vector<diff_row>& rows, std::size_t context = 3);

/// The part of a pair of changed lines that differs: everything between their common start and common end,
/// widened to whole words.
struct changed_part {
  std::size_t begin = 0;      ///< [bytes] the same on both sides
  std::size_t left_end = 0;   ///< [bytes] behind the last one
  std::size_t right_end = 0;  ///< [bytes]
};
changed_part part_that_changed(std::string_view left, std::string_view right);

}  // namespace kevo
