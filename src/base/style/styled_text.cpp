#include "src/base/style/styled_text.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "src/base/text/format.hpp"
#include "src/base/text/utf8.hpp"

namespace kevo::styled {

namespace {
constexpr std::array<std::string_view, 18> sequences = {"",
                                                        "\x1b[1m",
                                                        "\x1b[2m",
                                                        "\x1b[32m",
                                                        "\x1b[1;32m",
                                                        "\x1b[33m",
                                                        "\x1b[31m",
                                                        "\x1b[36m",
                                                        "\x1b[35m",
                                                        "\x1b[34m",
                                                        "\x1b[38;5;60m",
                                                        "\x1b[38;5;61m",
                                                        "\x1b[38;5;67m",
                                                        "\x1b[38;5;73m",
                                                        "\x1b[38;5;72m",
                                                        "\x1b[38;5;107m",
                                                        "\x1b[38;5;149m",
                                                        "\x1b[38;5;220m"};
}

line& line::add(std::string_view text, tone t) {
  if (text.empty()) return *this;
  // Here all text of panels and tables passes: what a terminal would obey ends here, whoever forgot it
  // before.
  std::string safe;
  if (std::any_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c >= 0x7f; }))
    text = safe = format::one_line(text);
  if (text.empty()) return *this;
  width_ += format::width_of(text);
  if (!spans_.empty() && spans_.back().tone == t) {
    spans_.back().text += text;
  } else {
    spans_.push_back({std::string(text), t});
  }
  return *this;
}

line& line::add(const line& other) {
  for (const auto& s : other.spans_) add(s.text, s.tone);
  return *this;
}

line& line::pad_to(std::size_t column) {
  if (width_ < column) add(std::string(column - width_, ' '));
  return *this;
}

line line::fitted(std::size_t columns, std::string_view ellipsis) const {
  line result;
  if (width_ <= columns) {
    result = *this;
    return result.pad_to(columns);
  }
  const std::size_t mark = format::width_of(ellipsis);
  if (columns <= mark) return result.pad_to(columns);
  const std::size_t room = columns - mark;
  for (const auto& s : spans_) {
    std::string part;
    std::size_t width = result.width();
    bool full = false;
    for (std::size_t at = 0; at < s.text.size();) {
      const std::size_t from = at;
      const auto w = static_cast<std::size_t>(format::width_of(next_code_point(s.text, at)));
      if (width + w > room) {
        full = true;
        break;
      }
      width += w;
      part.append(s.text, from, at - from);
    }
    result.add(part, s.tone);
    if (full) break;
  }
  result.add(ellipsis, tone::faint);
  return result.pad_to(columns);
}

std::string line::text(bool color) const {
  std::string result;
  std::size_t end = 0;  // behind the last byte that is not a blank
  for (const auto& s : spans_) {
    const auto sequence = color ? sequences[static_cast<std::size_t>(s.tone)] : std::string_view();
    result += sequence;
    result += s.text;
    if (s.text.find_first_not_of(' ') != std::string::npos)
      end = result.size() - (s.text.size() - s.text.find_last_not_of(' ') - 1);
    if (!sequence.empty()) {
      const bool ends_here = end == result.size();
      result += "\x1b[0m";
      if (ends_here) end = result.size();
    }
  }
  // What follows `end` is blanks and sequences; a tone that is open there must still be closed.
  const bool open = color && result.find("\x1b[0m", end) != std::string::npos;
  result.resize(end);
  if (open) result += "\x1b[0m";
  return result;
}

}  // namespace kevo::styled
