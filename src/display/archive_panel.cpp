#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "src/display/panels.hpp"

namespace kevo::panels {

using styled::block;
using styled::line;
using styled::pen;
using styled::tone;

line archive_note(const display_state& s) {
  line note;
  const std::size_t filled = s.archive.kept.empty() ? s.status.progress.archive_size : s.archive.kept.size();
  const std::size_t cells = s.archive.cells > 0 ? s.archive.cells : s.status.progress.archive_cells;
  note.add(format::count(filled));
  if (cells > 0) {
    note.add(" of " + format::count(cells) + " cells ", tone::faint);
    note.add(format::percent(static_cast<double>(filled) / static_cast<double>(cells)), tone::faint);
  } else {
    note.add(" elites", tone::faint);
  }
  return note;
}

block archive_block(const display_state& s, const pen& with, std::size_t width, std::size_t most_rows) {
  block result;
  const auto& map = s.archive;
  double high = map.kept.empty() ? 0 : map.kept.front().score, low = high;
  for (const auto& e : map.kept) {
    high = std::max(high, e.score);
    low = std::min(low, e.score);
  }
  const auto level_of = [&](double score, int levels) {  // by the logarithm where all scores are positive
    const double share = !(high > low) ? 1
                         : low > 0     ? std::log(score / low) / std::log(high / low)
                                       : (score - low) / (high - low);
    return std::clamp(static_cast<int>(share * levels), 0, levels - 1);
  };
  if (!map.is_plane()) {                // the best few, as bars
    std::size_t label = 4, figure = 8;  // columns
    for (std::size_t i = 0; i < map.kept.size() && i < most_rows; ++i) {
      label = std::max(label, std::to_string(map.kept[i].candidate).size() + 1);
      figure = std::max(figure, format::width_of(with.bare(map.kept[i].score, s.scores_are_speedups)));
    }
    for (std::size_t i = 0; i < map.kept.size() && i < most_rows; ++i) {
      const auto& e = map.kept[i];
      line row;
      row.add(line("#" + std::to_string(e.candidate), tone::faint).fitted(label, "")).add(" ");
      const std::size_t room = width > label + figure + 2 ? width - label - figure - 2 : 0;
      row.add(with.bar(high > 0 ? e.score / high : 0, room, tone::accent)).add(" ");
      row.add(with.bare(e.score, s.scores_are_speedups));
      result.push_back(std::move(row));
    }
    return result;
  }
  const auto& horizontal = map.axes[0];
  const auto& vertical = map.axes[1];
  const std::size_t rows = std::min(vertical.bins(), most_rows > 1 ? most_rows - 1 : 1);
  const std::size_t per_cell =
      std::clamp<std::size_t>(width / std::max<std::size_t>(horizontal.bins(), 1), 1, 4);
  const std::size_t columns = std::min(horizontal.bins(), width / per_cell);
  std::vector<double> best(rows * columns, -INFINITY);  // of cells without an elite
  for (const auto& e : map.kept) {
    if (e.bins.size() != 2 || e.bins[0] >= horizontal.bins() || e.bins[1] >= vertical.bins()) continue;
    double& cell =
        best[e.bins[1] * rows / vertical.bins() * columns + e.bins[0] * columns / horizontal.bins()];
    cell = std::max(cell, e.score);
  }
  static constexpr std::array<std::string_view, 8> shades = {".", ":", "-", "=", "+", "*", "%", "@"};
  for (std::size_t y = rows; y-- > 0;) {
    line row;
    for (std::size_t x = 0; x < columns; ++x) {
      const double score = best[y * columns + x];
      const bool empty = !std::isfinite(score);
      const int level = empty ? 0 : level_of(score, 8);
      std::string text;
      for (std::size_t i = 0; i < per_cell; ++i) {
        const bool gap = per_cell > 2 && i + 1 == per_cell;
        if (gap || (empty && i > 0)) {
          text += ' ';
        } else if (empty) {
          text += with.unicode ? "·" : " ";
        } else if (!with.unicode) {
          text += shades[static_cast<std::size_t>(level)];
        } else {
          text += "■";
        }
      }
      row.add(text, empty ? tone::faint : static_cast<tone>(static_cast<int>(tone::heat0) + level));
    }
    result.push_back(std::move(row));
  }
  line names;
  names.add(with.unicode ? "→ " : "> ", tone::faint).add(with.safe(horizontal.name), tone::faint);
  names.add(with.unicode ? "  ↑ " : "  ^ ", tone::faint).add(with.safe(vertical.name), tone::faint);
  result.push_back(std::move(names));
  return result;
}
}  // namespace kevo::panels
