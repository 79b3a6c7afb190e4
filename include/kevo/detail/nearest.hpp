#pragma once
// The most similar of some words, for hints such as "did you mean" in error messages.

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kevo::detail {

/// The edit distance of two words in bytes: insertions, deletions, substitutions and swaps of adjacent bytes
/// (optimal string alignment). O(|a| |b|) time, O(|b|) memory.
inline std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before.swap(above);
    above.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, substituted});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

/// The most similar of `words`, if it is similar enough to be what was meant: its distance is at most a third
/// of the length of `word`, or at most 2 for short words. Words longer than 64 bytes are ignored.
template <class Words>
std::optional<std::string> nearest(std::string_view word, const Words& words) {
  std::optional<std::string> best;
  std::size_t best_distance = std::max<std::size_t>(2, word.size() / 3) + 1;
  if (word.size() > 64) return best;
  for (const auto& candidate : words) {
    const std::string_view view(candidate);
    if (view.size() > 64) continue;
    const std::size_t distance = edit_distance(word, view);
    if (distance < best_distance && distance < view.size()) {
      best_distance = distance;
      best = std::string(view);
    }
  }
  return best;
}

/// A hint: "did you mean 'steps'?" or, if no word is similar, "valid keys: a, b, c" (at most 24 words); empty
/// if there are no words.
template <class Words>
std::string hint_for(std::string_view word, const Words& words, std::string_view what = "valid keys") {
  if (const auto near = nearest(word, words)) return "did you mean '" + *near + "'?";
  std::string list;
  std::size_t count = 0;
  for (const auto& candidate : words) {
    if (++count > 24) return std::string(what) + ": " + list + ", ...";
    list += (list.empty() ? "" : ", ") + std::string(std::string_view(candidate));
  }
  return list.empty() ? std::string() : std::string(what) + ": " + list;
}

/// `text` for use in a message: control bytes become '?', and at most `limit` bytes are kept.
inline std::string shown(std::string_view text, std::size_t limit = 60) {
  std::string result;
  for (const char c : text.substr(0, limit)) {
    result += (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) ? '?' : c;
  }
  return text.size() > limit ? result + "..." : result;
}

}  // namespace kevo::detail
