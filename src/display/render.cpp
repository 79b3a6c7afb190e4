#include "src/display/render.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "src/display/panels.hpp"

namespace kevo {
namespace {

using namespace panels;
using styled::block;
using styled::line;
using styled::pen;
using styled::tone;

struct panel {
  int rank = 0;  // what matters least (highest) leaves first when the terminal is low
  block rows;
  std::string names;  // of its boxes
};

block join(const block& left, const block& right) {
  block result;
  for (std::size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
    line row = i < left.size() ? left[i] : line();
    if (i < right.size()) row.add(right[i]);
    result.push_back(std::move(row));
  }
  return result;
}

std::size_t height(const std::vector<panel>& panels) {
  std::size_t sum = 0;
  for (const auto& p : panels) sum += p.rows.size();
  return sum;
}

/// Where panels go on a terminal of that size.
struct layout {
  layout(const display_state& s, std::size_t columns, std::size_t rows)
      : width(columns),
        wide(columns >= 96),
        tall(rows >= 34),
        beside(!wide && !tall && columns >= 72 && !s.status.credits.empty()),
        left(wide ? columns * 56 / 100 : columns),
        right(wide ? columns - left : columns),
        half(columns / 2),
        chart_rows(tall         ? 4
                   : rows >= 26 ? 3
                                : 1) {}

  std::size_t width;
  bool wide;
  bool tall;
  bool beside;  ///< on a low and narrow terminal the budget and the operators share rows
  std::size_t left, right;
  std::size_t half;
  std::size_t chart_rows;
};

/// What is in the boxes, before they are drawn.
struct contents {
  contents(const display_state& s, const pen& with, const layout& at)
      : best(best_block(s, with, at.left - 4, at.chart_rows)),
        search(search_block(s, with, at.right - 4)),
        operators(operators_block(s, with, (at.beside ? at.width - at.half : at.left) - 4)),
        archive(archive_block(s, with, at.right - 4, at.tall ? 9 : 6)),
        budget(budget_block(s, with, (at.beside ? at.half : at.left) - 4)) {}

  block best, search, operators, archive, budget;
};

block box(const pen& with, std::string_view title, const line& note, const block& content,
          std::size_t columns, std::size_t at_least = 0) {
  return boxed(with, title, note, content, columns, std::max(at_least, content.size()));
}

std::size_t rows_of_box(const block& content) {
  return content.empty() ? 0 : content.size() + 2;
}

/// Best beside search; below them the operators above the budget, and the archive beside both.
void add_in_two_columns(std::vector<panel>& panels, const display_state& s, const pen& with, const layout& at,
                        const contents& all) {
  const std::size_t first = std::max(all.best.size(), all.search.size());
  panels.push_back({1,
                    join(box(with, "Best", {}, all.best, at.left, first),
                         box(with, "Search", {}, all.search, at.right, first)),
                    "Best, Search"});
  const std::size_t boxes = rows_of_box(all.budget) + rows_of_box(all.operators);
  const std::size_t second = std::max(boxes, rows_of_box(all.archive));
  block column;
  if (!all.operators.empty())
    column = box(with, "Operators", {}, all.operators, at.left, second - rows_of_box(all.budget) - 2);
  if (!all.budget.empty()) {
    for (auto& row : box(with, "Budget", remaining_note(s), all.budget, at.left))
      column.push_back(std::move(row));
  }
  if (all.archive.empty()) {
    if (!column.empty()) panels.push_back({3, column, "Budget, Operators"});
  } else if (column.empty()) {
    panels.push_back({3, box(with, "Archive", archive_note(s), all.archive, at.width), "Archive"});
  } else {
    const block archive = box(with, "Archive", archive_note(s), all.archive, at.right, column.size() - 2);
    panels.push_back({3, join(column, archive), "Budget, Operators, Archive"});
  }
}

void add_stacked(std::vector<panel>& panels, const display_state& s, const pen& with, const layout& at,
                 const contents& all) {
  panels.push_back({1, box(with, "Best", {}, all.best, at.width), "Best"});
  panels.push_back({2, box(with, "Search", {}, all.search, at.width), "Search"});
  if (at.beside && !all.budget.empty()) {
    const std::size_t common = std::max(all.budget.size(), all.operators.size());
    panels.push_back({3,
                      join(box(with, "Budget", remaining_note(s), all.budget, at.half, common),
                           box(with, "Operators", {}, all.operators, at.width - at.half, common)),
                      "Budget, Operators"});
  } else {
    if (!all.budget.empty())
      panels.push_back({3, box(with, "Budget", remaining_note(s), all.budget, at.width), "Budget"});
    if (!all.operators.empty())
      panels.push_back({5,
                        box(with, "Operators", {}, all.operators, at.beside ? at.width - at.half : at.width),
                        "Operators"});
  }
  if (!all.archive.empty())
    panels.push_back({6, box(with, "Archive", archive_note(s), all.archive, at.width), "Archive"});
}

/// Takes away panels that the terminal is too low for, the least important first. @return their names
std::string hide_what_does_not_fit(std::vector<panel>& panels, std::size_t rows_of_news, std::size_t rows) {
  std::string hidden;
  while (height(panels) + rows_of_news + (hidden.empty() ? 0 : 1) > rows && panels.size() > 2) {
    const auto last = std::max_element(panels.begin(), panels.end(),
                                       [](const auto& a, const auto& b) { return a.rank < b.rank; });
    hidden = last->names + (hidden.empty() ? "" : ", ") + hidden;
    panels.erase(last);
  }
  return hidden;
}

block compose(const display_state& s, std::size_t width, std::size_t rows) {
  const pen with{s.unicode};
  const layout at(s, width, rows);
  const contents all(s, with, at);
  std::vector<panel> panels;
  panels.push_back({0, {header(s, with, width)}, {}});
  at.wide ? add_in_two_columns(panels, s, with, at, all) : add_stacked(panels, s, with, at, all);
  if (const auto& said = s.waiting.empty() ? s.message : s.waiting; !said.empty())
    panels.push_back({2, {line(" ").add(with.safe(said), tone::warning)}, "the message"});
  const std::size_t most_news = at.beside ? 1 : 3;
  const std::size_t news = std::min(most_news, std::max<std::size_t>(s.improvements.size(), 1));
  const std::string hidden = hide_what_does_not_fit(panels, 2 + news, rows);
  const bool named = !hidden.empty() && height(panels) < rows;
  if (named) --rows;
  block result;
  for (auto& p : panels) {
    for (auto& row : p.rows) result.push_back(std::move(row));
  }
  if (result.size() + 3 <= rows) {
    const std::size_t room =
        std::min<std::size_t>(rows - result.size() - 2, display_state::improvements_kept);
    for (auto& row : box(with, "Latest improvements", {}, improvements_block(s, with, room), width))
      result.push_back(std::move(row));
  }
  if (result.size() > rows) result.resize(rows);
  if (named) {
    line note(" not shown, the terminal has too few rows: ", tone::faint);
    result.push_back(note.add(hidden, tone::warning));
  }
  return result;
}

std::string text_of(const block& rows, std::size_t width, bool color, std::string_view ellipsis) {
  std::string result;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i > 0) result += '\n';
    result += rows[i].fitted(width, ellipsis).text(color);
  }
  return result;
}

}  // namespace

std::string render(const display_state& state, int columns, int rows, bool color) {
  const auto width = static_cast<std::size_t>(std::clamp(columns, 20, 400));
  const auto lines = static_cast<std::size_t>(std::clamp(rows, 1, 400));
  // Narrower terminals than the panel can be drawn for get its left part.
  const auto shown = static_cast<std::size_t>(std::clamp(columns, 1, 400));
  return text_of(compose(state, width, lines), shown, color, pen{state.unicode}.ellipsis());
}

std::string render_final(const display_state& state, int columns, bool color) {
  const auto width = static_cast<std::size_t>(std::clamp(columns, 20, 400));
  auto shortened = state;
  while (shortened.improvements.size() > 8) shortened.improvements.pop_front();
  return text_of(compose(shortened, width, 60), width, color, pen{state.unicode}.ellipsis());
}

}  // namespace kevo
