#include "src/display/pen.hpp"

#include <array>
#include <limits>

namespace kevo::styled {

block boxed(const pen& with, std::string_view title, const line& note, const block& content,
            std::size_t width, std::size_t height) {
  block result;
  const bool u = with.unicode;
  const std::size_t inner = width - 4;
  const std::string bar = u ? "─" : "-";
  const auto repeat = [&](std::size_t n) {
    std::string text;
    for (std::size_t i = 0; i < n; ++i) text += bar;
    return text;
  };
  line top;
  top.add(u ? "╭" : "+", tone::faint).add(bar, tone::faint).add(" ");
  top.add(line(title, tone::strong).fitted(std::min(format::width_of(title), width - 6), with.ellipsis()));
  top.add(" ");
  const std::size_t room = width - 1 - std::min(width - 1, top.width());
  if (note.width() > 0 && note.width() + 4 <= room) {
    top.add(repeat(room - note.width() - 3), tone::faint).add(" ").add(note).add(" ").add(bar, tone::faint);
  } else {
    top.add(repeat(room), tone::faint);
  }
  top.add(u ? "╮" : "+", tone::faint);
  result.push_back(top.fitted(width, ""));
  for (std::size_t i = 0; i < height; ++i) {
    line row;
    row.add(u ? "│" : "|", tone::faint).add(" ");
    row.add(i < content.size() ? content[i].fitted(inner, with.ellipsis()) : line().pad_to(inner));
    row.add(" ").add(u ? "│" : "|", tone::faint);
    result.push_back(std::move(row));
  }
  line bottom;
  bottom.add((u ? "╰" : "+") + repeat(width - 2) + (u ? "╯" : "+"), tone::faint);
  result.push_back(std::move(bottom));
  return result;
}
block chart(const pen& with, const std::vector<double>& values, std::size_t width, std::size_t height,
            bool are_speedups) {
  block result(height);
  double high = are_speedups ? 1 : 0, low = are_speedups ? 1 : std::numeric_limits<double>::infinity();
  for (const double v : values) {
    if (!(v > 0)) continue;
    high = std::max(high, v);
    low = std::min(low, v);
  }
  const std::string top = with.bare(high, are_speedups), bottom = with.bare(low, are_speedups);
  const std::size_t label = std::max(format::width_of(top), format::width_of(bottom));
  if (values.empty() || width < label + 12 || !(high > low)) return block();
  const std::size_t columns = width - label - 1;
  static constexpr std::array<std::string_view, 9> fill = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const auto levels = static_cast<double>(height * (with.unicode ? 8 : 2));
  for (std::size_t row = 0; row < height; ++row) {
    const std::string& text = row == 0 ? top : bottom;
    line& out = result[row];
    if (row == 0 || row + 1 == height)
      out.add(std::string(label - format::width_of(text), ' ')).add(text, tone::faint);
    out.pad_to(label + 1);
  }
  for (std::size_t x = 0; x < columns; ++x) {
    const std::size_t at =
        values.size() <= 1 ? 0 : x * (values.size() - 1) / std::max<std::size_t>(columns - 1, 1);
    const double v = values[at];
    // At least one level, so that the curve never vanishes into the axis.
    const double level =
        v > 0 ? std::max(1.0, std::round(std::log(v / low) / std::log(high / low) * levels)) : 0;
    for (std::size_t row = 0; row < height; ++row) {
      const double per_row = with.unicode ? 8 : 2;
      const double rest = level - per_row * static_cast<double>(height - 1 - row);
      const auto part = static_cast<std::size_t>(std::clamp(rest, 0.0, per_row));
      if (with.unicode) {
        result[row].add(fill[part], tone::accent);
      } else {
        result[row].add(part == 0 ? " " : part == 1 ? "." : "|", tone::accent);
      }
    }
  }
  return result;
}
}  // namespace kevo::styled
