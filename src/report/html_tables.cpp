// The tables of the report: operators, outcomes, the workloads of the best, how it was measured, what it
// cost.
#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "src/base/text/format.hpp"
#include "src/base/text/further_baselines.hpp"
#include "src/base/text/two_times.hpp"
#include "src/report/action_shares.hpp"
#include "src/report/hidden_workloads.hpp"
#include "src/report/html_report.hpp"
#include "src/report/html_text.hpp"

namespace kevo::html {

namespace {

std::string readable(std::string_view name) {
  std::string text(name);
  std::replace(text.begin(), text.end(), '_', ' ');
  return escape(text);
}

std::string axes_of(const workload_result& w) {
  std::string text;
  for (const auto& [name, value] : w.axes)
    text += (text.empty() ? "" : ", ") + escape(name) + " " + std::to_string(value);
  return text;
}

/// A stacked bar of outcomes.
std::string stack(const outcome_counts& counts) {
  const auto total = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  if (total == 0) return "<span class=\"stack\"></span>";
  std::string text = "<span class=\"stack\">";
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    text += fmt::format("<i class=\"o-{}\" style=\"width:{:.2f}%\" title=\"{} {}\"></i>", outcome_names[i],
                        static_cast<double>(counts[i]) / static_cast<double>(total) * 100,
                        readable(outcome_names[i]), counts[i]);
  }
  return text + "</span>";
}

std::string operator_table(const report_content& content) {
  const auto& h = content.history;
  double most = 0;
  for (const auto& op : h.operators()) most = std::max(most, op.mean_reward());
  const bool tokens = std::any_of(h.operators().begin(), h.operators().end(), [](const auto& op) {
    return op.variation.tokens_in + op.variation.tokens_out > 0;
  });
  std::string text =
      "<h3>Operators</h3><div class=\"scroll\"><table><thead><tr><th>operator<th class=\"n\">turns<th "
      "class=\"n\">proposals"
      "<th class=\"n\">known<th class=\"n\">filtered<th class=\"n\">none<th class=\"n\">valid<th "
      "class=\"n\">improved<th "
      "class=\"n\">new cell"
      "<th class=\"n\">champions<th>mean reward<th class=\"n\">vary / turn<th class=\"n\">evaluate / turn";
  if (tokens) text += "<th class=\"n\">tokens<th class=\"n\">money";
  text += "<th>outcomes</tr></thead><tbody>";
  const auto row = [&](const std::string& name, const operator_record& op, bool seed) {
    const auto turns = static_cast<double>(std::max<std::uint64_t>(op.turns, 1));
    const auto n = [&](std::uint64_t value) {
      return seed ? std::string("<td class=\"n\">")
                  : fmt::format("<td class=\"n{}\">{}", value == 0 ? " zero" : "", format::count(value));
    };
    text += "<tr><td>" + name + n(op.turns) + n(op.proposals) + n(op.duplicates) + n(op.filtered) +
            n(op.no_proposals);
    text += fmt::format("<td class=\"n\">{} <small>of {}</small>", format::count(op.valid),
                        format::count(op.candidates));
    text += fmt::format("<td class=\"n\">{}<td class=\"n\">{}<td class=\"n\">{}", format::count(op.improved),
                        format::count(op.new_cells), format::count(op.crowned));
    text += seed ? "<td>"
                 : fmt::format("<td class=\"bar\"><i style=\"width:{:.1f}%\"></i><span>{}</span>",
                               most > 0 ? op.mean_reward() / most * 50 : 0, format::number(op.mean_reward()));
    text += seed ? "<td class=\"n\"><td class=\"n\">"
                 : fmt::format("<td class=\"n\">{}<td class=\"n\">{}",
                               format::time(op.variation.wall_s / turns * 1e9, true),
                               format::time(op.evaluation.wall_s / turns * 1e9, true));
    if (tokens) {
      text += fmt::format(
          "<td class=\"n\">{}<td class=\"n\">{:.2f}",
          format::count(static_cast<std::uint64_t>(op.variation.tokens_in + op.variation.tokens_out)),
          op.variation.money);
    }
    text += "<td class=\"wide\">" + stack(op.outcomes) + "</tr>";
  };
  row("<span class=\"faint\">seeds</span>", h.seeds(), true);
  for (std::size_t i = 0; i < h.operators().size(); ++i)
    row(escape_short(content.operator_name(static_cast<operator_index>(i)), 40), h.operators()[i], false);
  return text +
         "</tbody></table></div><p class=\"note\">Reward of a turn: the gain in score of a "
         "candidate that the archive kept, as a share of the best score before it, from 0 to 1; 0 for "
         "failures and known programs.</p>";
}

std::string outcome_table(const report_content& content) {
  const auto& h = content.history;
  const auto total = std::accumulate(h.outcomes().begin(), h.outcomes().end(), std::uint64_t{0});
  if (total == 0) return {};
  std::string text =
      "<h3>Outcomes</h3><div class=\"scroll\"><table class=\"outcomes\"><thead><tr><th>outcome<th "
      "class=\"n\">candidates<th class=\"n\">share<th>";
  for (std::size_t i = 0; i < h.operators().size(); ++i)
    text += "<th class=\"n\">" + escape_short(content.operator_name(static_cast<operator_index>(i)), 24);
  text += "</tr></thead><tbody>";
  for (std::size_t o = 0; o < outcome_names.size(); ++o) {
    if (h.outcomes()[o] == 0) continue;
    const double share = static_cast<double>(h.outcomes()[o]) / static_cast<double>(total);
    text += fmt::format(
        "<tr><td><i class=\"dot o-{0}\"></i>{1}<td class=\"n\">{2}<td class=\"n\">{3}<td class=\"bar "
        "wide\"><i class=\"o-{0}\" style=\"width:{4:.1f}%\"></i>",
        outcome_names[o], readable(outcome_names[o]), format::count(h.outcomes()[o]), format::percent(share),
        share * 100);
    for (const auto& op : h.operators())
      text += fmt::format("<td class=\"n{}\">{}", op.outcomes[o] == 0 ? " zero" : "",
                          format::count(op.outcomes[o]));
    text += "</tr>";
  }
  return text + "</tbody></table></div>";
}

// What became of the programs of each macro action; nothing without the operator `rewrite`.
std::string action_table(const report_content& content) {
  const auto shares = action_shares(content);
  if (shares.empty()) return {};
  std::string text =
      "<h3>Actions of rewrite</h3><div class=\"scroll\"><table><thead><tr><th>action<th "
      "class=\"n\">proposed<th class=\"n\">valid<th>share<th class=\"n\">incorrect<th "
      "class=\"n\">build failed<th class=\"n\">other failures<th class=\"n\">better than "
      "parents</tr></thead><tbody>";
  const auto n = [](std::uint64_t value) {
    return fmt::format("<td class=\"n{}\">{}", value == 0 ? " zero" : "", format::count(value));
  };
  for (const action_share& one : shares) {
    text +=
        "<tr><td>" + escape(one.action) + n(one.proposed) +
        fmt::format("<td class=\"n\">{} <small>of {}</small>", format::count(one.valid),
                    format::count(one.evaluated)) +
        (one.evaluated == 0 ? "<td>"
                            : fmt::format("<td class=\"bar\"><i style=\"width:{:.1f}%\"></i><span>{}</span>",
                                          one.valid_share() * 50, format::percent(one.valid_share()))) +
        n(one.incorrect) + n(one.build_failed) + n(one.failed_otherwise) + n(one.better_than_parents) +
        "</tr>";
  }
  return text +
         "</tbody></table></div><p class=\"note\">A program that several actions made counts for each of "
         "them.</p>";
}

std::string facts(const std::vector<std::pair<std::string, std::string>>& list) {
  std::string text = "<dl>";
  for (const auto& [name, value] : list) {
    if (!value.empty()) text += fmt::format("<dt>{}</dt><dd>{}</dd>", name, value);
  }
  return text + "</dl>";
}

// Where the time of all evaluations went, the largest part first.
std::string parts_of_time(const run_history& history) {
  const double whole = history.spent().evaluation.wall_s;
  if (history.parts_s().empty() || !(whole > 0)) return "";
  std::vector<std::pair<double, std::string>> parts;
  double rest = whole;
  for (const auto& [name, seconds] : history.parts_s()) {
    parts.emplace_back(seconds, name);
    rest -= seconds;
  }
  std::sort(parts.begin(), parts.end(), std::greater<>());
  if (rest > 0) parts.emplace_back(rest, "rest");
  std::vector<std::pair<std::string, std::string>> list;
  for (const auto& [seconds, name] : parts)
    list.emplace_back(escape(name), fmt::format("{} <small>{:.1f} %</small>",
                                                format::time(seconds * 1e9, true), 100 * seconds / whole));
  return "<h3>Time of the evaluations</h3>" + facts(list);
}

}  // namespace

std::string tables(const report_content& content) {
  return "<section><h2>The search</h2>" + operator_table(content) + action_table(content) +
         outcome_table(content) + "</section>";
}

namespace {

// Empty unless two times of a call were measured.
std::string both_times_table(const evaluation& e) {
  std::string rows;
  for (const auto& w : e.workloads) {
    if (w.hidden || !has_two_times(w)) continue;
    rows += "<tr><td>" + escape_short(w.uuid, 40);
    for (const auto& cell : two_times_cells(w, true)) rows += "<td class=\"n\">" + cell;
    rows += "</tr>";
  }
  if (rows.empty()) return {};
  std::string head = "<tr><th>workload";
  for (const char* name : {"device", "host"})
    head += fmt::format(
        "<th class=\"n\">{} time<th class=\"n\">interval<th class=\"n\">baseline<th class=\"n\">speedup",
        name);
  return "<h3>Device and host times</h3><div class=\"scroll\"><table><thead>" + head +
         "</tr></thead><tbody>" + rows +
         "</tbody></table></div><p class=\"note\">Host time: from the call to its synchronized result, so "
         "that "
         "launches count.</p>";
}

}  // namespace

std::string workloads(const report_content& content) {
  if (!content.best_evaluation || content.best_evaluation->workloads.empty()) return {};
  const evaluation& e = *content.best_evaluation;
  std::string text =
      "<section><h2>The best, by workload</h2><div "
      "class=\"scroll\"><table><thead><tr><th>workload<th>size<th class=\"n\">time"
      "<th class=\"n\">interval<th class=\"n\">" +
      (e.baseline.empty() ? std::string("baseline") : escape_short(e.baseline, 30)) +
      "<th class=\"n\">speedup<th class=\"n\">speed of light<th "
      "class=\"n\">pairs<th>outcome</tr></thead><tbody>";
  for (const auto& w : e.workloads) {
    if (w.hidden) continue;
    const auto range = w.time_interval.high > 0 ? format::time(w.time_interval.low, true) + " – " +
                                                      format::time(w.time_interval.high, true)
                                                : std::string("–");
    text += fmt::format(
        "<tr><td>{}<td class=\"faint\">{}<td class=\"n strong\">{}<td class=\"n faint\">{}<td "
        "class=\"n\">{}<td class=\"n strong\">{}<td class=\"n\">{}<td class=\"n\">{}<td><i class=\"dot "
        "o-{}\"></i>{}</tr>",
        escape_short(w.uuid, 40), axes_of(w), format::time(w.time_ns, true), range,
        format::time(w.baseline_ns, true), format::speedup(w.speedup, true),
        w.sol_fraction > 0 ? format::percent(w.sol_fraction) : "–", w.samples.size(), to_string(w.outcome),
        readable(to_string(w.outcome)));
  }
  text += "</tbody></table></div>" + both_times_table(e);
  if (const auto hidden = count_hidden(e); hidden.all > 0)
    text += "<p class=\"note\">" + describe(hidden) +
            ". They check correctness only, and no operator sees them.</p>";
  if (!e.other_speedups.empty()) {
    text += "<h3>Further baselines</h3><div class=\"scroll\"><table class=\"bars\"><tbody>";
    double most = 1;
    for (const auto& [name, ratio] : e.other_speedups) most = std::max(most, ratio);
    for (const auto& [name, speedup] : further_speedups(e, true)) {
      const double ratio = e.other_speedups.at(name);
      // The mark is 2 pixels wide and ends at its place: beyond the cell it would give the table a scroll
      // bar.
      text += fmt::format(
          "<tr><td>{}<td class=\"n strong\">{}<td class=\"bar wide\"><i style=\"width:{:.1f}%\"></i><u "
          "style=\"left:calc({:.1f}% - 2px)\"></u></tr>",
          escape_short(name, 40), speedup, ratio / most * 100, 100 / most);
    }
    text +=
        "</tbody></table></div><p class=\"note\">Speed of the best relative to each; the mark is at 1.</p>";
  }
  return text + "</section>";
}

std::string conditions(const report_content& content) {
  std::string text = "<section class=\"split\"><div><h2>How it was measured</h2>";
  std::vector<std::pair<std::string, std::string>> list;
  if (content.best_evaluation) {
    const evaluation& e = *content.best_evaluation;
    list = {{"device", escape(e.device)},
            {"backend", escape(e.backend)},
            {"protocol", escape(e.protocol)},
            {"baseline", escape(e.baseline)}};
    for (const auto& [name, value] : e.context) list.emplace_back(readable(name), escape(value));
    for (const auto& [name, value] : e.measures) list.emplace_back(readable(name), format::number(value));
  }
  if (list.empty()) {
    text += "<p class=\"lead\">Nothing was measured.</p>";
  } else {
    text += facts(list);
  }
  const kevo::ledger& l = content.history.spent();
  text += "</div><div><h2>What it cost</h2>";
  text +=
      facts({{"run time", format::duration(l.elapsed_s)},
             {"waited for other processes", l.waited_s >= 1 ? format::duration(l.waited_s) : ""},
             {"evaluations", format::count(l.evaluations)},
             {"confirmations", format::count(l.confirmations)},
             {"proposals", format::count(l.proposals)},
             {"known proposals", format::count(l.duplicates)},
             {"proposals dropped by the filter", l.filtered > 0 ? format::count(l.filtered) : std::string()},
             {"turns without a proposal", format::count(l.no_proposals)},
             {"valid candidates", format::count(l.valid)},
             {"time in operators", format::time(l.variation.wall_s * 1e9, true)},
             {"time in evaluations", format::time(l.evaluation.wall_s * 1e9, true)},
             {"time on the device", format::time(l.evaluation.device_s * 1e9, true)},
             {"tokens", l.variation.tokens_in + l.variation.tokens_out > 0
                            ? format::count(static_cast<std::uint64_t>(l.variation.tokens_in)) + " in, " +
                                  format::count(static_cast<std::uint64_t>(l.variation.tokens_out)) + " out"
                            : std::string()},
             {"money", l.variation.money > 0 ? fmt::format("{:.2f}", l.variation.money) : std::string()}});
  text += parts_of_time(content.history);
  text += "</div></section>";
  if (!content.config.empty()) {
    text += "<section><details><summary>The resolved config</summary><pre class=\"source\">" +
            escape(content.config) + "</pre></details></section>";
  }
  return text;
}

}  // namespace kevo::html
