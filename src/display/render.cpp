#include "src/display/render.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "src/display/styled_text.hpp"
#include "src/report/format.hpp"

namespace kevo {
namespace {

using styled::block;
using styled::line;
using styled::tone;

constexpr std::array<tone, outcome_names.size()> outcome_tones = {
    tone::good, tone::bad, tone::bad, tone::bad, tone::warning, tone::violet, tone::accent, tone::blue};

std::string readable(std::string_view name) {
  std::string text(name);
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

/// Everything that depends on the terminal and not on the run.
struct pen {
  bool unicode = true;

  std::string_view ellipsis() const { return unicode ? "…" : "~"; }
  std::string_view dot() const { return unicode ? " · " : " - "; }
  std::string safe(std::string_view text) const { return format::one_line(text, !unicode); }
  std::string speedup(double value) const { return format::speedup(value, unicode); }

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

/// The best-so-far curve as `height` lines of block characters, on a logarithmic axis from 1 (or less) up.
block chart(const pen& with, const std::vector<double>& values, std::size_t width, std::size_t height) {
  block result(height);
  double high = 1, low = 1;
  for (const double v : values) {
    if (!(v > 0)) continue;
    high = std::max(high, v);
    low = std::min(low, v);
  }
  const std::string top = with.speedup(high), bottom = with.speedup(low);
  const std::size_t label = std::max(format::width_of(top), format::width_of(bottom));
  if (values.empty() || width < label + 12 || !(high > low)) return block();
  const std::size_t columns = width - label - 1;
  static constexpr std::array<std::string_view, 9> fill = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const double levels = static_cast<double>(height * (with.unicode ? 8 : 2));
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

block best_block(const display_state& s, const pen& with, std::size_t width, std::size_t chart_rows) {
  block result;
  const improvement* shown = s.champion               ? &*s.champion
                             : s.improvements.empty() ? nullptr
                                                      : &s.improvements.back();
  line first;
  if (shown == nullptr) {
    first.add("no valid candidate yet", tone::faint);
  } else {
    const std::string baseline = s.title.baseline.empty() ? "baseline" : with.safe(s.title.baseline);
    first.add(with.speedup(shown->speedup), tone::good_strong).add(" the speed of " + baseline);
    const auto range =
        format::interval(shown->speedup_interval.low, shown->speedup_interval.high, with.unicode);
    if (!range.empty()) first.add("  [" + range + "]", tone::faint);
    if (shown->confirmed) {
      first.add(with.unicode ? "  ✓ confirmed" : "  confirmed", tone::good);
    } else {
      first.add("  unconfirmed", tone::warning);
    }
    first.add(fmt::format("  #{}", shown->candidate), tone::faint);
  }
  result.push_back(std::move(first));

  line facts;
  const auto say = [&](const std::string& value, const std::string& of_what) {
    line fact;
    fact.add(value).add(" " + of_what, tone::faint);
    if (facts.width() > 0 && facts.width() + 3 + fact.width() > width) {
      result.push_back(std::move(facts));
      facts = line();
    }
    if (facts.width() > 0) facts.add(with.dot(), tone::faint);
    facts.add(fact);
  };
  const double sol =
      s.champion_result ? s.champion_result->sol_fraction : s.status.progress.best_sol_fraction;
  if (s.champion_result) {
    std::size_t n = 0;
    for (const auto& w : s.champion_result->workloads) {
      if (w.hidden || !(w.time_ns > 0) || ++n > 3) continue;
      say(format::time(w.time_ns, with.unicode), with.safe(w.uuid));
    }
    for (const auto& [name, ratio] : s.champion_result->other_speedups)
      say(format::percent(ratio), "of " + with.safe(name));
  }
  if (sol > 0) say(format::percent(sol), "of speed of light");
  if (facts.width() > 0) result.push_back(std::move(facts));

  if (s.champion && !s.improvements.empty() && !s.improvements.back().confirmed &&
      s.improvements.back().speedup > s.champion->speedup) {
    const auto& rival = s.improvements.back();
    line third;
    third.add(with.speedup(rival.speedup), tone::warning);
    third.add(fmt::format(" seen (#{}), not confirmed", rival.candidate), tone::warning);
    result.push_back(std::move(third));
  }
  for (auto& row : chart(with, s.curve, width, chart_rows)) result.push_back(std::move(row));
  return result;
}

/// Outcomes as one bar and its legend.
void add_outcomes(block& result, const display_state& s, const pen& with, std::size_t width) {
  const std::uint64_t total = std::accumulate(s.outcomes.begin(), s.outcomes.end(), std::uint64_t{0});
  if (total == 0) return;
  line bar;
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < s.outcomes.size(); ++i) {
    sum += s.outcomes[i];
    const auto end = static_cast<std::size_t>(
        std::llround(static_cast<double>(sum) / static_cast<double>(total) * static_cast<double>(width)));
    std::string part;
    const char letter = outcome_names[i][0];
    for (std::size_t x = bar.width(); x < end; ++x) part += with.unicode ? "▆" : std::string(1, letter);
    bar.add(part, outcome_tones[i]);
  }
  result.push_back(std::move(bar));
  line legend;
  for (std::size_t i = 0; i < s.outcomes.size(); ++i) {
    if (s.outcomes[i] == 0) continue;
    line entry;
    entry.add(with.unicode ? "■ " : std::string(1, outcome_names[i][0]) + ":", outcome_tones[i]);
    entry.add(readable(outcome_names[i]) + " ").add(format::count(s.outcomes[i]), tone::strong);
    if (legend.width() > 0 && legend.width() + 2 + entry.width() > width) {
      result.push_back(std::move(legend));
      legend = line();
    }
    if (legend.width() > 0) legend.add("  ");
    legend.add(entry);
  }
  result.push_back(std::move(legend));
}

block search_block(const display_state& s, const pen& with, std::size_t width) {
  block result;
  const auto& book = s.status.progress.ledger;
  line evaluations;
  evaluations.add("evaluations ", tone::faint).add(format::count(s.evaluations), tone::strong);
  if (const double rate = s.rate(); rate > 0)
    evaluations.add("  ").add(fmt::format("{:.{}f}", rate, rate < 99.95 ? 1 : 0)).add(" /s", tone::faint);
  if (book.confirmations > 0)
    evaluations.add("  ").add(format::count(book.confirmations)).add(" confirmations", tone::faint);
  result.push_back(std::move(evaluations));
  line proposals;
  proposals.add("proposals   ", tone::faint).add(format::count(book.proposals), tone::strong);
  if (book.duplicates > 0) proposals.add("  ").add(format::count(book.duplicates)).add(" known", tone::faint);
  if (book.no_proposals > 0)
    proposals.add("  ").add(format::count(book.no_proposals)).add(" without result", tone::faint);
  result.push_back(std::move(proposals));
  line now;
  now.add("at work     ", tone::faint);
  if (s.status.varying + s.status.building + s.status.measuring == 0) {
    now.add(s.stopped.empty() ? "nothing" : "stopped: " + with.safe(s.stopped), tone::faint);
  } else {
    const auto part = [&](std::size_t n, std::string_view word, bool first) {
      if (!first) now.add("  ");
      now.add(std::to_string(n), n > 0 ? tone::strong : tone::faint).add(" ").add(word, tone::faint);
    };
    part(s.status.varying, "vary", true);
    part(s.status.building, "build", false);
    part(s.status.measuring, "measure", false);
  }
  result.push_back(std::move(now));
  if (book.variation.tokens_in + book.variation.tokens_out > 0) {
    line model;
    model.add("model       ", tone::faint);
    model.add(format::count(static_cast<std::uint64_t>(book.variation.tokens_in + book.variation.tokens_out)))
        .add(" tokens", tone::faint);
    if (book.variation.money > 0) model.add("  ").add(fmt::format("{:.2f}", book.variation.money));
    result.push_back(std::move(model));
  }
  add_outcomes(result, s, with, width);
  return result;
}

block budget_block(const display_state& s, const pen& with, std::size_t width) {
  block result;
  const auto add = [&](std::string_view name, double used, std::size_t label) {
    line row;
    row.add(line(with.safe(name), tone::faint).fitted(label, with.ellipsis())).add(" ");
    const std::size_t room = width > label + 7 ? width - label - 7 : 0;
    row.add(with.bar(used, room, used > 0.9 ? tone::warning : tone::blue));
    row.add(fmt::format("{:>6}", format::percent(std::clamp(used, 0.0, 1.0))));
    result.push_back(std::move(row));
  };
  std::size_t label = 6;
  for (const auto& b : s.status.budgets) label = std::max(label, format::width_of(with.safe(b.name)));
  label = std::min(label, width / 3);
  for (const auto& b : s.status.budgets) add(b.name, b.used, label);
  if (s.status.budgets.empty() && s.status.budget_used) add("budget", *s.status.budget_used, label);
  return result;
}

line remaining_note(const display_state& s) {
  line note;
  if (!s.stopped.empty()) return line("done", tone::faint);
  if (s.status.stopping) return line("stopping", tone::warning);
  if (const auto left = s.remaining_s())
    note.add("about ", tone::faint).add(format::duration(*left)).add(" left", tone::faint);
  return note;
}

block operators_block(const display_state& s, const pen& with, std::size_t width) {
  block result;
  const auto& credits = s.status.credits;
  double most = 0, pulls = 0;
  std::size_t label = 4;
  bool known = false;
  for (std::size_t i = 0; i < credits.size(); ++i) {
    label = std::max(label, format::width_of(with.safe(s.operator_name(static_cast<operator_index>(i)))));
    most = std::max(most, credits[i].mean_reward);
    pulls += credits[i].pulls;
    known = known || credits[i].probability > 0;
  }
  label = std::min(label, width / 3);
  const std::string head = "share   turns  gain/turn   cost";
  const std::size_t numbers = width >= label + head.size() + 10 ? head.size() : width >= label + 24 ? 13 : 0;
  if (!credits.empty() && numbers == head.size()) {
    line titles;
    titles.pad_to(width - numbers).add(head, tone::faint);
    result.push_back(std::move(titles));
  }
  for (std::size_t i = 0; i < credits.size(); ++i) {
    const auto& c = credits[i];
    line row;
    row.add(line(with.safe(s.operator_name(static_cast<operator_index>(i)))).fitted(label, with.ellipsis()));
    row.add(" ");
    const double share = known ? c.probability : pulls > 0 ? c.pulls / pulls : 0;
    const std::size_t used = label + 1 + (numbers > 0 ? numbers + 1 : 0);
    if (width > used) row.add(with.bar(share, width - used, tone::violet));
    if (numbers > 0) row.add(" ");
    if (numbers == head.size()) {
      row.add(fmt::format("{:>5} {:>7} {:>10} {:>5}s", format::percent(share),
                          format::count(static_cast<std::uint64_t>(std::max(0.0, c.pulls))),
                          format::number(c.mean_reward), fmt::format("{:.2g}", c.cost_s)));
    } else if (numbers > 0) {
      row.add(fmt::format("{:>5} {:>7}", format::percent(share),
                          format::count(static_cast<std::uint64_t>(std::max(0.0, c.pulls)))));
    }
    result.push_back(std::move(row));
  }
  return result;
}

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

/// The heat map of a plane (brighter is faster), bins merged by their best where there are more than fit.
block archive_block(const display_state& s, const pen& with, std::size_t width, std::size_t most_rows) {
  block result;
  const auto& map = s.archive;
  double high = 0, low = 0;
  for (const auto& e : map.kept) {
    high = std::max(high, e.score);
    low = low > 0 ? std::min(low, e.score) : e.score;
  }
  const auto level_of = [&](double score, int levels) {
    if (!(score > 0)) return 0;
    const double share = high > low && low > 0 ? std::log(score / low) / std::log(high / low) : 1;
    return std::clamp(static_cast<int>(share * levels), 0, levels - 1);
  };
  if (!map.is_plane()) {  // the best few, as bars
    std::size_t label = 4;
    for (std::size_t i = 0; i < map.kept.size() && i < most_rows; ++i)
      label = std::max(label, std::to_string(map.kept[i].candidate).size() + 1);
    for (std::size_t i = 0; i < map.kept.size() && i < most_rows; ++i) {
      const auto& e = map.kept[i];
      line row;
      row.add(line("#" + std::to_string(e.candidate), tone::faint).fitted(label, "")).add(" ");
      const std::size_t room = width > label + 10 ? width - label - 10 : 0;
      row.add(with.bar(high > 0 ? e.score / high : 0, room, tone::accent)).add(" ");
      row.add(with.speedup(e.score));
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
  std::vector<double> best(rows * columns, 0);
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
      const int level = level_of(score, 8);
      std::string text;
      for (std::size_t i = 0; i < per_cell; ++i) {
        const bool gap = per_cell > 2 && i + 1 == per_cell;
        if (gap || (!(score > 0) && i > 0)) {
          text += ' ';
        } else if (!(score > 0)) {
          text += with.unicode ? "·" : " ";
        } else if (!with.unicode) {
          text += shades[static_cast<std::size_t>(level)];
        } else {
          text += "■";
        }
      }
      row.add(text, score > 0 ? static_cast<tone>(static_cast<int>(tone::heat0) + level) : tone::faint);
    }
    result.push_back(std::move(row));
  }
  line names;
  names.add(with.unicode ? "→ " : "> ", tone::faint).add(with.safe(horizontal.name), tone::faint);
  names.add(with.unicode ? "  ↑ " : "  ^ ", tone::faint).add(with.safe(vertical.name), tone::faint);
  result.push_back(std::move(names));
  return result;
}

block improvements_block(const display_state& s, const pen& with, std::size_t rows) {
  block result;
  std::size_t label = 4;
  for (const auto& i : s.improvements)
    label = std::max(label, format::width_of(with.safe(s.operator_name(i.op))));
  label = std::min<std::size_t>(label, 16);
  for (std::size_t n = 0; n < s.improvements.size() && n < rows; ++n) {
    const auto& i = s.improvements[s.improvements.size() - 1 - n];
    line row;
    row.add(fmt::format("{:>7}  ", format::duration(i.time_s)), tone::faint);
    row.add(fmt::format("{:<8}", "#" + std::to_string(i.candidate)));
    const std::string ratio = with.speedup(i.speedup);
    row.add(std::string(9 - std::min<std::size_t>(9, format::width_of(ratio)), ' '));
    row.add(ratio, i.confirmed ? tone::good_strong : tone::warning);
    row.add(i.confirmed ? (with.unicode ? " ✓ " : " c ") : (with.unicode ? "   " : " ? "),
            i.confirmed ? tone::good : tone::warning);
    const std::string gain = i.gain > 1 ? "+" + format::percent(i.gain - 1) : "";
    row.add(fmt::format("{:>8}  ", gain), tone::faint);
    row.add(line(with.safe(s.operator_name(i.op)), tone::violet).fitted(label, with.ellipsis())).add("  ");
    row.add(with.safe(i.summary));
    result.push_back(std::move(row));
  }
  if (s.improvements.empty()) result.emplace_back("none yet", tone::faint);
  return result;
}

line header(const display_state& s, const pen& with, std::size_t width) {
  line left;
  left.add("kevo", tone::good_strong);
  bool first = true;
  const auto part = [&](std::string_view before, const std::string& text) {
    if (text.empty()) return;
    left.add(first ? "  " : with.dot(), tone::faint).add(before, tone::faint);
    left.add(with.safe(text), first ? tone::strong : tone::plain);
    first = false;
  };
  part("", s.title.run);
  part("", s.title.task);
  part("", s.title.device);
  part("seed ", s.title.seed);
  const std::string clock = format::duration(s.status.elapsed_s);
  line result;
  result.add(" ").add(left.fitted(width - std::min(width, clock.size() + 4), with.ellipsis()));
  result.add("  ").add(clock, tone::strong);
  return result.fitted(width, "");
}

struct panel {
  int rank = 0;  // what matters least (highest) leaves first when the terminal is low
  block rows;
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
  panels.push_back({0, {header(s, with, width)}});
  const bool wide = width >= 96;
  const bool tall = rows >= 34;
  const std::size_t left = wide ? width * 56 / 100 : width, right = wide ? width - left : width;
  const auto box = [&](std::string_view title, const line& note, const block& content, std::size_t columns,
                       std::size_t at_least = 0) {
    return boxed(with, title, note, content, columns, std::max(at_least, content.size()));
  };
  const auto best = best_block(s, with, left - 4, tall ? 4 : rows >= 26 ? 3 : 1);
  const auto search = search_block(s, with, right - 4);
  const auto operators = operators_block(s, with, left - 4);
  const auto archive = archive_block(s, with, right - 4, tall ? 9 : 6);
  const auto budget = budget_block(s, with, left - 4);
  const bool has_archive = !archive.empty();
  const bool has_operators = !operators.empty();
  if (wide) {
    const std::size_t first = std::max(best.size(), search.size());
    panels.push_back({1, join(box("Best", {}, best, left, first), box("Search", {}, search, right, first))});
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
      panels.push_back({3, join(column, box("Archive", archive_note(s), archive, right, column.size() - 2))});
    } else if (has_archive) {
      panels.push_back({3, box("Archive", archive_note(s), archive, width)});
    } else if (!column.empty()) {
      panels.push_back({3, column});
    }
  } else {
    panels.push_back({1, box("Best", {}, best, width)});
    panels.push_back({2, box("Search", {}, search, width)});
    if (!budget.empty()) panels.push_back({3, box("Budget", remaining_note(s), budget, width)});
    if (has_operators) panels.push_back({5, box("Operators", {}, operators, width)});
    if (has_archive) panels.push_back({6, box("Archive", archive_note(s), archive, width)});
  }
  if (!s.message.empty()) panels.push_back({2, {line(" ").add(with.safe(s.message), tone::warning)}});
  const std::size_t least = 2 + std::min<std::size_t>(3, std::max<std::size_t>(s.improvements.size(), 1));
  while (height(panels) + least > rows && panels.size() > 2) {
    const auto last = std::max_element(panels.begin(), panels.end(),
                                       [](const auto& a, const auto& b) { return a.rank < b.rank; });
    panels.erase(last);
  }
  block result;
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
  const std::size_t shown = static_cast<std::size_t>(std::clamp(columns, 1, 400));
  return text_of(compose(state, width, lines), shown, color, pen{state.unicode}.ellipsis());
}

std::string render_final(const display_state& state, int columns, bool color) {
  const auto width = static_cast<std::size_t>(std::clamp(columns, 20, 400));
  auto shortened = state;
  while (shortened.improvements.size() > 8) shortened.improvements.pop_front();
  return text_of(compose(shortened, width, 60), width, color, pen{state.unicode}.ellipsis());
}

}  // namespace kevo
