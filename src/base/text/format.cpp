#include "src/base/text/format.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "src/base/text/utf8.hpp"

namespace kevo::format {

std::string number(double value) {
  if (!std::isfinite(value)) return "-";
  const double size = std::abs(value);
  if (size == 0) return "0";
  if (size >= 1e7 || size < 1e-4) return fmt::format("{:.3g}", value);
  if (size >= 999.95) return fmt::format("{:.0f}", value);
  // Digits behind the point so that four are significant, e.g. 3 for 1.034.
  const int whole = static_cast<int>(std::floor(std::log10(size))) + 1;
  return fmt::format("{:.{}f}", value, std::clamp(4 - whole, 0, 7));
}

std::string speedup(double value, bool unicode) {
  if (!(value > 0) || !std::isfinite(value)) return "-";
  return number(value) + (unicode ? "×" : "x");
}

std::string speedup(double value, double low, double high, bool unicode) {
  const std::string range = interval(low, high, unicode);
  return speedup(value, unicode) + (range.empty() ? "" : " [" + range + "]");
}

std::string score(double value) {
  return std::isfinite(value) ? fmt::format("{:.6g}", value) : "-";
}

std::string figure(double speedup, double score, bool unicode) {
  if (speedup > 0) return format::speedup(speedup, unicode);
  return "score " + format::score(score);
}

std::string bare_figure(double score, bool is_speedup, bool unicode) {
  return is_speedup ? format::speedup(score, unicode) : format::score(score);
}

std::string interval(double low, double high, bool unicode) {
  if (!(high > low)) return {};
  return number(low) + (unicode ? " – " : " - ") + number(high);
}

std::string caution(double low, double high) {
  constexpr double wide = 2;  // from here on the first digit of the speedup is not known
  if (!(high > low)) return {};
  if (low <= 1 && high >= 1) return "the interval contains 1: neither faster nor slower is shown";
  if (high < wide * low) return {};
  return "the interval is wide: its ends differ by a factor of " + fmt::format("{:.2g}", high / low);
}

std::string time(double nanoseconds, bool unicode) {
  if (!(nanoseconds > 0) || !std::isfinite(nanoseconds)) return "-";
  if (nanoseconds < 1e3) return number(nanoseconds) + " ns";
  if (nanoseconds < 1e6) return number(nanoseconds / 1e3) + (unicode ? " µs" : " us");
  if (nanoseconds < 1e9) return number(nanoseconds / 1e6) + " ms";
  return number(nanoseconds / 1e9) + " s";
}

std::string duration(double seconds) {
  if (!(seconds > 0)) seconds = 0;
  if (!(seconds < 1e12)) return "-";
  const auto whole = static_cast<std::uint64_t>(seconds);
  const std::uint64_t days = whole / 86400, hours = whole / 3600 % 24, minutes = whole / 60 % 60;
  if (days > 0) return fmt::format("{} d {:02}:{:02}", days, hours, minutes);
  if (hours > 0) return fmt::format("{}:{:02}:{:02}", hours, minutes, whole % 60);
  return fmt::format("{}:{:02}", minutes, whole % 60);
}

std::string percent(double fraction) {
  if (!std::isfinite(fraction)) return "-";
  const double value = fraction * 100, size = std::abs(value);
  if (size == 0) return "0 %";
  if (size >= 9.95) return fmt::format("{:.0f} %", value);
  if (size >= 0.995) return fmt::format("{:.1f} %", value);
  return fmt::format("{:.2g} %", value);
}

std::string count(std::uint64_t value) {
  std::string digits = std::to_string(value);
  if (digits.size() <= 4) return digits;
  for (std::size_t at = digits.size() - 3;; at -= 3) {
    digits.insert(at, 1, ',');
    if (at <= 3) break;
  }
  return digits;
}

std::string bytes(double value) {
  if (!std::isfinite(value)) return "-";
  static constexpr std::array<const char*, 4> units = {" B", " KB", " MB", " GB"};
  std::size_t unit = 0;
  while (std::abs(value) >= 1024 && unit + 1 < units.size()) value /= 1024, ++unit;
  std::string text = fmt::format("{:.{}f}", value, std::abs(value) < 9.95 && unit > 0 ? 1 : 0);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text + units[unit];
}

namespace {
struct range {
  char32_t first, last;
};
template <std::size_t n>
bool within(char32_t c, const std::array<range, n>& ranges) {
  return std::any_of(ranges.begin(), ranges.end(), [c](range r) { return c >= r.first && c <= r.last; });
}
// Direction marks could make a line read otherwise than it is ("Trojan Source").
constexpr std::array<range, 4> direction_marks = {
    {{0x061c, 0x061c}, {0x200e, 0x200f}, {0x202a, 0x202e}, {0x2066, 0x2069}}};
constexpr std::array<range, 17> no_columns = {{{0x0300, 0x036f},
                                               {0x0483, 0x0489},
                                               {0x0591, 0x05bd},
                                               {0x0610, 0x061a},
                                               {0x064b, 0x065f},
                                               {0x0e31, 0x0e31},
                                               {0x0e34, 0x0e3a},
                                               {0x0e47, 0x0e4e},
                                               {0x1ab0, 0x1aff},
                                               {0x1dc0, 0x1dff},
                                               {0x200b, 0x200f},
                                               {0x202a, 0x202e},
                                               {0x2060, 0x2069},
                                               {0x20d0, 0x20ff},
                                               {0xfe00, 0xfe0f},
                                               {0xfe20, 0xfe2f},
                                               {0xfeff, 0xfeff}}};
constexpr std::array<range, 14> two_columns = {{{0x1100, 0x115f},
                                                {0x231a, 0x231b},
                                                {0x23e9, 0x23ec},
                                                {0x2614, 0x2615},
                                                {0x2648, 0x2653},
                                                {0x2705, 0x2705},
                                                {0x2728, 0x2728},
                                                {0x2e80, 0x303e},
                                                {0x3041, 0xa4cf},
                                                {0xac00, 0xd7a3},
                                                {0xf900, 0xfaff},
                                                {0xfe30, 0xfe6f},
                                                {0xff00, 0xff60},
                                                {0x1f000, 0x3fffd}}};
}  // namespace

int width_of(char32_t c) {
  if (c < 0x300 || (c >= 0x2500 && c < 0x2600)) return 1;  // most of all text and all of a panel's lines
  if (within(c, no_columns)) return 0;
  return within(c, two_columns) ? 2 : 1;
}

std::size_t width_of(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (static_cast<unsigned char>(text[at]) < 0x80) {
      ++at, ++width;
      continue;
    }
    width += static_cast<std::size_t>(width_of(next_code_point(text, at)));
  }
  return width;
}

std::string one_line(std::string_view text, bool ascii) {
  std::string result;
  result.reserve(text.size());
  bool blank = false;
  for (std::size_t at = 0; at < text.size();) {
    const char32_t c = next_code_point(text, at);
    if (c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x2028 || c == 0x2029) {
      if (!blank) result += ' ';
      blank = true;
      continue;
    }
    blank = false;
    if (within(c, direction_marks)) continue;
    if (c == 0xfffd || (ascii && c >= 0x80)) {
      result += '?';
    } else {
      append_utf8(result, c);
    }
  }
  return result;
}

std::string printable(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t from = at;
    const char32_t c = next_code_point(text, at);
    if (c == '\n' || c == '\t') {
      result += static_cast<char>(c);
    } else if (c == '\r') {
      if (at == text.size() || text[at] != '\n') result += "\\r";
    } else if (c < 0x20 || (c >= 0x7f && c < 0xa0)) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned>(c));
    } else if (c == 0xfffd && at == from + 1) {  // a byte alone, not the character itself
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[from]));
    } else if (c == 0x2028 || c == 0x2029 || within(c, direction_marks)) {
      result += fmt::format("\\u{{{:x}}}", static_cast<unsigned>(c));
    } else {
      result.append(text.substr(from, at - from));
    }
  }
  return result;
}

}  // namespace kevo::format
