#include "src/display/panels.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "src/base/text/counted.hpp"
#include "src/base/text/further_baselines.hpp"
#include "src/base/text/verdict_text.hpp"

namespace kevo::panels {

using styled::block;
using styled::line;
using styled::pen;
using styled::tone;

namespace {

constexpr std::array<tone, outcome_names.size()> outcome_tones = {tone::good,   tone::bad,     tone::bad,
                                                                  tone::bad,    tone::warning, tone::violet,
                                                                  tone::accent, tone::blue,    tone::faint};

std::string readable(std::string_view name) {
  std::string text(name);
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}
/// A sentence on as many lines as it needs, broken between words; at most two.
std::vector<std::string> folded(std::string_view text, std::size_t width) {
  const std::size_t end = format::width_of(text) > width ? text.rfind(' ', std::min(width, text.size() - 1))
                                                         : std::string_view::npos;
  if (end == std::string_view::npos || end == 0) return {std::string(text)};
  return {std::string(text.substr(0, end)), std::string(text.substr(end + 1))};
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

}  // namespace

namespace {

/// What is said of the best candidate's figure: a word, and a sentence where no conclusion is allowed.
struct standing {
  line word;
  std::string caution;
};
standing standing_of(const display_state& s, const improvement& one, const pen& with) {
  const auto& ends = one.speedup_interval;
  standing result;
  if (s.baseline_duplicates.contains(one.candidate) && !one.confirmed) {
    result.word.add("the program of the baseline", tone::warning);
    return result;
  }
  if (one.measured_again && !one.verdict.confirmed()) {
    const auto disturbed = one.confirmed && s.champion_result
                               ? format::disturbance_in(s.champion_result->context)
                               : std::string();
    result.word.add("undecided", tone::warning);
    result.caution = format::why_undecided(one.verdict, one.speedup, ends, disturbed);
    return result;
  }
  if (one.speedup > 0) result.caution = format::caution(ends.low, ends.high);
  if (one.measured_again) {
    result.word.add(with.unicode ? "✓ confirmed" : "confirmed", tone::good);
  } else {
    result.word.add("unconfirmed", tone::warning);
  }
  return result;
}

/// The figure of the best candidate, and a warning where it says little.
void add_figure(block& result, const display_state& s, const improvement& one, const pen& with,
                std::size_t width) {
  const std::string& own = s.champion_result ? s.champion_result->baseline : std::string();
  const std::string& against = own.empty() ? s.title.baseline : own;
  const standing said = standing_of(s, one, with);
  const auto range = format::interval(one.speedup_interval.low, one.speedup_interval.high, with.unicode);
  line first;
  first.add(with.figure(one.speedup, one.score), tone::good_strong);
  if (!range.empty()) first.add(" [" + range + "]", said.caution.empty() ? tone::plain : tone::warning);
  if (one.speedup > 0) first.add(" the speed of " + (against.empty() ? "baseline" : with.safe(against)));
  first.add("  ").add(said.word).add(fmt::format("  #{}", one.candidate), tone::faint);
  result.push_back(std::move(first));
  if (said.caution.empty()) return;
  for (auto& row : folded(with.safe(said.caution), width)) result.emplace_back(row, tone::warning);
}

/// Times by workload and shares of further baselines and of the speed of light, as many on a line as fit.
void add_facts(block& result, const display_state& s, const pen& with, std::size_t width) {
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
    for (const auto& [name, speedup] : further_speedups(*s.champion_result, with.unicode))
      say(speedup, "the speed of " + with.safe(name));
  }
  if (sol > 0) say(format::percent(sol), "of speed of light");
  if (facts.width() > 0) result.push_back(std::move(facts));
}

}  // namespace

block best_block(const display_state& s, const pen& with, std::size_t width, std::size_t chart_rows) {
  block result;
  if (const auto best = s.best()) {
    add_figure(result, s, *best, with, width);
  } else {
    result.emplace_back("no valid candidate yet", tone::faint);
  }
  add_facts(result, s, with, width);
  if (const auto rival = s.rival()) {
    line third;
    third.add(with.figure(rival->speedup, rival->score), tone::warning);
    third.add(fmt::format(" seen (#{}), not confirmed", rival->candidate), tone::warning);
    result.push_back(std::move(third));
  }
  if (const auto other = s.better_undecided()) {
    const auto said =
        format::better_undecided(other->candidate, other->speedup, other->speedup_interval, with.unicode);
    for (auto& row : folded(said, width)) result.emplace_back(row, tone::warning);
  }
  for (auto& row : chart(with, s.curve, width, chart_rows, s.scores_are_speedups))
    result.push_back(std::move(row));
  return result;
}

block search_block(const display_state& s, const pen& with, std::size_t width) {
  block result;
  const auto& book = s.status.progress.ledger;
  // The rate is that of the last half minute, which " now" says where there is room for it.
  const auto counts = [&](std::string_view unit) {
    line made;
    made.add("evaluations ", tone::faint).add(format::count(s.evaluations), tone::strong);
    if (const double rate = s.rate(); rate > 0)
      made.add("  ").add(fmt::format("{:.{}f}", rate, rate < 99.95 ? 1 : 0)).add(unit, tone::faint);
    if (book.confirmations > 0)
      made.add("  ")
          .add(format::count(book.confirmations))
          .add(' ' + format::noun(book.confirmations, "confirmation"), tone::faint);
    return made;
  };
  line evaluations = counts(" /s now");
  if (evaluations.width() > width) evaluations = counts(" /s");
  result.push_back(std::move(evaluations));
  line proposals;
  proposals.add("proposals   ", tone::faint).add(format::count(book.proposals), tone::strong);
  if (book.duplicates > 0) proposals.add("  ").add(format::count(book.duplicates)).add(" known", tone::faint);
  if (book.filtered > 0)
    proposals.add("  ").add(format::count(book.filtered)).add(" filtered out", tone::faint);
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
  if (is_waiting(s.status)) {
    line wait;
    wait.add("waits       ", tone::faint).add(wait_length(s.status.waits_s), tone::warning);
    wait.add(" for ").add(with.safe(to_string(*s.status.waits_for)));
    result.push_back(wait.fitted(width, with.ellipsis()));
  }
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
  // The bar gives way before a limit does, for the percentage says what the bar says.
  const std::size_t percentage = 7, least_bar = 4;
  label = std::min(label, std::max(width / 3, width - std::min(width, percentage + least_bar)));
  for (const auto& b : s.status.budgets) add(b.name, b.used, label);
  if (s.status.budgets.empty() && s.status.budget_used) add("budget", *s.status.budget_used, label);
  return result;
}

line remaining_note(const display_state& s) {
  line note;
  if (s.closed) return line(s.stopped.empty() ? "interrupted" : "done", tone::faint);
  if (!s.stopped.empty())  // what is at work, and confirmations of the best, are still to be finished
    return line(s.status.stopping ? "stopping" : "finishing", tone::warning);
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
  const std::string head = "share   turns  gain/turn      cost";
  const std::size_t numbers = width >= label + head.size() + 6 ? head.size() : width >= label + 24 ? 13 : 0;
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
      row.add(fmt::format("{:>5} {:>7} {:>10} {:>9}", format::percent(share),
                          format::count(static_cast<std::uint64_t>(std::max(0.0, c.pulls))),
                          format::number(c.mean_reward), format::time(c.cost_s * 1e9, with.unicode)));
    } else if (numbers > 0) {
      row.add(fmt::format("{:>5} {:>7}", format::percent(share),
                          format::count(static_cast<std::uint64_t>(std::max(0.0, c.pulls)))));
    }
    result.push_back(std::move(row));
  }
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
    const double figure = s.shown_figure(i);
    const std::string ratio = with.bare(figure, s.scores_are_speedups);
    row.add(std::string(9 - std::min<std::size_t>(9, format::width_of(ratio)), ' '));
    const bool sure = i.measured_again && i.verdict.confirmed();
    row.add(ratio, sure && i.confirmed ? tone::good_strong : tone::warning);
    row.add(sure               ? (with.unicode ? " ✓ " : " c ")
            : i.measured_again ? (with.unicode ? " ≈ " : " u ")
                               : (with.unicode ? "   " : " ? "),
            sure ? tone::good : tone::warning);
    const double gain_ratio = i.before > 0 ? figure / i.before : 0;
    const std::string gain = gain_ratio > 1 ? "+" + format::percent(gain_ratio - 1) : "";
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
}  // namespace kevo::panels
