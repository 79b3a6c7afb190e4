#include "src/base/text/line_diff.hpp"

#include <algorithm>

namespace kevo {

namespace {

constexpr std::ptrdiff_t most_changes = 2000;

using lines = std::vector<std::string_view>;

/// Which lines of left[first..] and right[first..] are kept, by Myers' greedy algorithm on the middle parts.
struct matching {
  std::vector<bool> left, right;
};

matching match(const lines& a, std::size_t a_first, std::size_t a_last, const lines& b, std::size_t b_first,
               std::size_t b_last) {
  matching kept{std::vector<bool>(a.size(), true), std::vector<bool>(b.size(), true)};
  const auto n = static_cast<std::ptrdiff_t>(a_last - a_first),
             m = static_cast<std::ptrdiff_t>(b_last - b_first);
  const auto none = [&] {
    std::fill(kept.left.begin() + static_cast<std::ptrdiff_t>(a_first),
              kept.left.begin() + static_cast<std::ptrdiff_t>(a_last), false);
    std::fill(kept.right.begin() + static_cast<std::ptrdiff_t>(b_first),
              kept.right.begin() + static_cast<std::ptrdiff_t>(b_last), false);
  };
  if (n == 0 || m == 0) {
    none();
    return kept;
  }
  const std::ptrdiff_t most = std::min(n + m, most_changes);
  // v[k]: how far along a the furthest path on diagonal k = x - y has come; one copy a step to walk back.
  std::vector<std::vector<std::ptrdiff_t>> steps;
  std::vector<std::ptrdiff_t> v(static_cast<std::size_t>(2 * most + 3), 0);
  const auto at = [most](std::ptrdiff_t k) { return static_cast<std::size_t>(k + most + 1); };
  std::ptrdiff_t d = 0;
  bool found = false;
  for (; d <= most && !found; ++d) {
    steps.emplace_back(v.begin() + static_cast<std::ptrdiff_t>(at(-d - 1)),
                       v.begin() + static_cast<std::ptrdiff_t>(at(d + 1)) + 1);
    for (std::ptrdiff_t k = -d; k <= d; k += 2) {
      std::ptrdiff_t x = k == -d || (k != d && v[at(k - 1)] < v[at(k + 1)]) ? v[at(k + 1)] : v[at(k - 1)] + 1;
      while (x < n && x - k < m &&
             a[a_first + static_cast<std::size_t>(x)] == b[b_first + static_cast<std::size_t>(x - k)])
        ++x;
      v[at(k)] = x;
      if (x >= n && x - k >= m) {
        found = true;
        break;
      }
    }
  }
  if (!found) {
    none();
    return kept;
  }
  std::ptrdiff_t x = n, y = m;
  for (--d; d >= 0; --d) {
    const auto& before = steps[static_cast<std::size_t>(d)];
    const auto value = [&](std::ptrdiff_t k) { return before[static_cast<std::size_t>(k + d + 1)]; };
    const std::ptrdiff_t k = x - y;
    const bool down = k == -d || (k != d && value(k - 1) < value(k + 1));
    const std::ptrdiff_t previous_k = down ? k + 1 : k - 1;
    const std::ptrdiff_t previous_x = d == 0 ? 0 : value(previous_k),
                         previous_y = d == 0 ? 0 : previous_x - previous_k;
    if (d > 0) {
      if (down) {
        kept.right[b_first + static_cast<std::size_t>(previous_y)] = false;
      } else {
        kept.left[a_first + static_cast<std::size_t>(previous_x)] = false;
      }
    }
    x = previous_x;
    y = previous_y;
  }
  return kept;
}

bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

}  // namespace

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> result;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    result.push_back(line);
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return result;
}

std::vector<diff_row> diff_lines(const lines& left, const lines& right) {
  std::size_t first = 0;
  while (first < left.size() && first < right.size() && left[first] == right[first]) ++first;
  std::size_t left_last = left.size(), right_last = right.size();
  while (left_last > first && right_last > first && left[left_last - 1] == right[right_last - 1])
    --left_last, --right_last;
  const matching kept = match(left, first, left_last, right, first, right_last);

  std::vector<diff_row> rows;
  std::size_t i = 0, j = 0;
  while (i < left.size() || j < right.size()) {
    std::size_t removed = 0, added = 0;
    while (i + removed < left.size() && !kept.left[i + removed]) ++removed;
    while (j + added < right.size() && !kept.right[j + added]) ++added;
    for (std::size_t n = 0; n < std::max(removed, added); ++n) {
      const bool on_left = n < removed, on_right = n < added;
      rows.push_back({on_left && on_right ? diff_kind::changed
                      : on_left           ? diff_kind::removed
                                          : diff_kind::added,
                      on_left ? i + n + 1 : 0, on_right ? j + n + 1 : 0, 1});
    }
    i += removed;
    j += added;
    if (i < left.size() && j < right.size()) rows.push_back({diff_kind::same, ++i, ++j, 1});
  }
  return rows;
}

std::vector<diff_row> fold(const std::vector<diff_row>& rows, std::size_t context) {
  std::vector<diff_row> result;
  for (std::size_t at = 0; at < rows.size();) {
    std::size_t end = at;
    while (end < rows.size() && rows[end].kind == diff_kind::same) ++end;
    const std::size_t run = end - at;
    if (run == 0) {
      result.push_back(rows[at++]);
      continue;
    }
    const std::size_t head = at == 0 ? 0 : context, tail = end == rows.size() ? 0 : context;
    if (run > head + tail + 2) {
      for (std::size_t i = 0; i < head; ++i) result.push_back(rows[at + i]);
      const diff_row& from = rows[at + head];
      result.push_back({diff_kind::folded, from.left_line, from.right_line, run - head - tail});
      for (std::size_t i = end - tail; i < end; ++i) result.push_back(rows[i]);
    } else {
      for (std::size_t i = at; i < end; ++i) result.push_back(rows[i]);
    }
    at = end;
  }
  return result;
}

changed_part part_that_changed(std::string_view left, std::string_view right) {
  const std::size_t shorter = std::min(left.size(), right.size());
  std::size_t begin = 0;
  while (begin < shorter && left[begin] == right[begin]) ++begin;
  std::size_t tail = 0;
  while (tail < shorter - begin && left[left.size() - 1 - tail] == right[right.size() - 1 - tail]) ++tail;
  // Whole words read better than the digits in which they differ.
  while (begin > 0 && is_word(left[begin - 1])) --begin;
  while (tail > 0 && is_word(left[left.size() - tail])) --tail;
  return {begin, left.size() - tail, right.size() - tail};
}

}  // namespace kevo
