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

block compose(const display_state& s, std::size_t width, std::size_t rows) {
  const pen with{s.unicode};
  std::vector<panel> panels;
  panels.push_back({0, {header(s, with, width)}, {}});
  const bool wide = width >= 96;
  const bool tall = rows >= 34;
  const std::size_t left = wide ? width * 56 / 100 : width, right = wide ? width - left : width;
  const auto box = [&](std::string_view title, const line& note, const block& content, std::size_t columns,
                       std::size_t at_least = 0) {
    return boxed(with, title, note, content, columns, std::max(at_least, content.size()));
  };
  const auto best = best_block(s, with, left - 4, tall ? 4 : rows >= 26 ? 3 : 1);
  const auto search = search_block(s, with, right - 4);
  // On a low and narrow terminal the budget and the operators share rows.
  const bool beside = !wide && !tall && width >= 72 && !s.status.credits.empty();
  const std::size_t half = width / 2;
  const auto operators = operators_block(s, with, beside ? width - half - 4 : left - 4);
  const auto archive = archive_block(s, with, right - 4, tall ? 9 : 6);
  const auto budget = budget_block(s, with, beside ? half - 4 : left - 4);
  const bool has_archive = !archive.empty();
  const bool has_operators = !operators.empty();
  if (wide) {
    const std::size_t first = std::max(best.size(), search.size());
    panels.push_back({1, join(box("Best", {}, best, left, first), box("Search", {}, search, right, first)),
                      "Best, Search"});
    // Left: operators above budget; right: the archive beside both.
    block column;
    const std::size_t boxes =
        (budget.empty() ? 0 : budget.size() + 2) + (has_operators ? operators.size() + 2 : 0);
    const std::size_t second = has_archive ? std::max(boxes, archive.size() + 2) : boxes;
    if (has_operators) {
      const std::size_t stretch = second - (budget.empty() ? 0 : budget.size() + 2) - 2;
      column = box("Operators", {}, operators, left, std::max(operators.size(), stretch));
    }
    if (!budget.empty()) {
      for (auto& row : box("Budget", remaining_note(s), budget, left)) column.push_back(std::move(row));
    }
    if (has_archive && !column.empty()) {
      panels.push_back({3, join(column, box("Archive", archive_note(s), archive, right, column.size() - 2)),
                        "Budget, Operators, Archive"});
    } else if (has_archive) {
      panels.push_back({3, box("Archive", archive_note(s), archive, width), "Archive"});
    } else if (!column.empty()) {
      panels.push_back({3, column, "Budget, Operators"});
    }
  } else {
    panels.push_back({1, box("Best", {}, best, width), "Best"});
    panels.push_back({2, box("Search", {}, search, width), "Search"});
    if (beside && !budget.empty()) {
      const std::size_t common = std::max(budget.size(), operators.size());
      panels.push_back({3,
                        join(box("Budget", remaining_note(s), budget, half, common),
                             box("Operators", {}, operators, width - half, common)),
                        "Budget, Operators"});
    } else {
      if (!budget.empty()) panels.push_back({3, box("Budget", remaining_note(s), budget, width), "Budget"});
      if (has_operators)
        panels.push_back({5, box("Operators", {}, operators, beside ? width - half : width), "Operators"});
    }
    if (has_archive) panels.push_back({6, box("Archive", archive_note(s), archive, width), "Archive"});
  }
  if (!s.message.empty())
    panels.push_back({2, {line(" ").add(with.safe(s.message), tone::warning)}, "the message"});
  const std::size_t rows_of_news = beside ? 1 : 3;
  const std::size_t least =
      2 + std::min<std::size_t>(rows_of_news, std::max<std::size_t>(s.improvements.size(), 1));
  std::string hidden;  // panels that the terminal is too low for; a line names them
  while (height(panels) + least + (hidden.empty() ? 0 : 1) > rows && panels.size() > 2) {
    const auto last = std::max_element(panels.begin(), panels.end(),
                                       [](const auto& a, const auto& b) { return a.rank < b.rank; });
    hidden = last->names + (hidden.empty() ? "" : ", ") + hidden;
    panels.erase(last);
  }
  block result;
  const bool named = !hidden.empty() && height(panels) < rows;
  if (named) --rows;
  for (auto& p : panels) {
    for (auto& row : p.rows) result.push_back(std::move(row));
  }
  if (result.size() + 3 <= rows) {
    const std::size_t room =
        std::min<std::size_t>(rows - result.size() - 2, display_state::improvements_kept);
    for (auto& row : box("Latest improvements", {}, improvements_block(s, with, room), width))
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
