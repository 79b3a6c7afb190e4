// The page of an ablation: the variants, their times by workload, their measures.

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "src/base/text/format.hpp"
#include "src/lab/ablation.hpp"
#include "src/report/html_report.hpp"
#include "src/report/html_text.hpp"

namespace kevo {
namespace {

constexpr const char* ablation_style = R"css(
.factor{display:block}.factor .one{stroke:var(--strong-line);stroke-dasharray:3 3}.factor .range{stroke:var(--soft);stroke-width:2}.factor circle{fill:var(--accent)}
td.set{white-space:normal;min-width:200px;color:var(--soft)}td.why{white-space:normal;overflow-wrap:anywhere;min-width:220px;color:var(--warn)}.slower{color:var(--warn);font-weight:600}.faster{color:var(--ok);font-weight:600}
)css";

std::string time_cell(const estimate& e) {
  if (!(e.value > 0)) return "–";
  return fmt::format("{} <small>[{}, {}]</small>", format::time(e.value, true),
                     format::time(e.range.low, true), format::time(e.range.high, true));
}

std::string ratio_cell(const estimate& e) {
  if (!(e.value > 0)) return "<td class=\"n\">–";
  const char* tone = e.range.low > 1.01 ? " slower" : e.range.high < 0.99 ? " faster" : "";
  return fmt::format("<td class=\"n{}\">{} <small>[{}, {}]</small>", tone, format::number(e.value),
                     format::number(e.range.low), format::number(e.range.high));
}

/// The ratio on a logarithmic axis whose ends are `reach` and 1 / `reach`.
std::string ratio_mark(const estimate& e, double reach) {
  if (!(e.value > 0)) return "";
  const auto x = [reach](double v) {
    return v > 0 ? 110 + 104 * std::clamp(std::log(v) / std::log(reach), -1.0, 1.0) : 6;
  };
  return fmt::format(
      "<svg class=\"factor\" width=\"220\" height=\"14\"><line class=\"one\" x1=\"110\" x2=\"110\" y1=\"0\" "
      "y2=\"14\"/><line class=\"range\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"7\" y2=\"7\"/><circle cx=\"{:.1f}\" "
      "cy=\"7\" r=\"3.5\"/></svg>",
      x(e.range.low), x(e.range.high), x(e.value));
}

std::string settings_text(const ablation_row& row, const ablation_row& full) {
  std::string text;
  for (const auto& [name, value] : row.variant.tunables) {
    const auto known = full.variant.tunables.find(name);
    if (&row != &full && known != full.variant.tunables.end() && known->second == value) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, value);
  }
  return html::escape_short(text, 200);
}

std::string variants_section(const ablation_plan& plan, const ablation_outcome& outcome) {
  double reach = 2;
  for (const auto& r : outcome.rows) {
    if (r.ratio.value > 0) reach = std::max({reach, r.ratio.value, 1 / r.ratio.value});
  }
  std::string text =
      "<section><h2>Variants</h2><div class=\"scroll\"><table><tr><th>variant<th class=\"n\">time<th "
      "class=\"n\">ratio to full<th><th>tunables</tr>";
  for (const auto& r : outcome.rows) {
    text += fmt::format("<tr><td class=\"strong\">{}", html::escape_short(r.variant.name, 60));
    text += r.failure.empty()
                ? fmt::format("<td class=\"n\">{}{}<td>{}", time_cell(r.time_ns), ratio_cell(r.ratio),
                              ratio_mark(r.ratio, reach))
                : fmt::format("<td colspan=\"3\" class=\"why\">{}", html::escape_short(r.failure, 400));
    text += fmt::format("<td class=\"set\">{}</tr>", settings_text(r, outcome.rows.front()));
  }
  text += fmt::format(
      "</table></div><p class=\"note\">Ratio: time of the variant over time of the full program; above 1, "
      "the "
      "program is slower without the part. Every variant is timed alternately with the full program; the row "
      "of the full program compares it with itself. {} of each variant{}. Times and ratios are geometric "
      "means "
      "over the visible workloads, in brackets 95 % intervals.</p>",
      plan.repeats == 1 ? "One evaluation" : fmt::format("{} evaluations", plan.repeats),
      plan.repeats == 1 ? "" : ", pooled");
  if (const auto caution = ablation_caution(outcome.rows); !caution.empty())
    text += "<p class=\"setback\">" + html::escape(caution) + "</p>";
  return text + "</section>";
}

std::string by_workload_section(const ablation_outcome& outcome) {
  const auto measured = std::find_if(outcome.rows.begin(), outcome.rows.end(),
                                     [](const auto& r) { return !r.workloads.empty(); });
  if (measured == outcome.rows.end() || measured->workloads.size() < 2) return {};
  std::string text = "<section><h2>By workload</h2><div class=\"scroll\"><table><tr><th>variant";
  for (const auto& w : measured->workloads)
    text += fmt::format("<th class=\"n\">{0}, time<th class=\"n\">ratio", html::escape_short(w.uuid, 60));
  text += "</tr>";
  for (const auto& r : outcome.rows) {
    if (!r.failure.empty()) continue;
    text += "<tr><td class=\"strong\">" + html::escape_short(r.variant.name, 60);
    for (const auto& w : r.workloads) text += "<td class=\"n\">" + time_cell(w.time_ns) + ratio_cell(w.ratio);
    text += "</tr>";
  }
  return text + "</table></div></section>";
}

std::string measures_section(const ablation_outcome& outcome) {
  std::set<std::string> names;
  for (const auto& r : outcome.rows) {
    for (const auto& [name, value] : r.result->measures) names.insert(name);
  }
  if (names.empty()) return {};
  std::string text = "<section><h2>Measures</h2><div class=\"scroll\"><table><tr><th>variant";
  for (const auto& name : names) text += "<th class=\"n\">" + html::escape_short(name, 60);
  text += "</tr>";
  for (const auto& r : outcome.rows) {
    text += "<tr><td class=\"strong\">" + html::escape_short(r.variant.name, 60);
    for (const auto& name : names) {
      const auto found = r.result->measures.find(name);
      text += found == r.result->measures.end() ? std::string("<td class=\"n\">–")
                                                : fmt::format("<td class=\"n\">{:.6g}", found->second);
    }
    text += "</tr>";
  }
  return text + "</table></div></section>";
}

}  // namespace

std::string ablation_page(const ablation_plan& plan, const ablation_outcome& outcome) {
  const evaluation& full = *outcome.rows.front().result;
  std::string page =
      html::begin_page(html::escape_short(plan.name, 80) + " · kevo", ablation_style) +
      "<header><p class=\"brand\">kevo <span>laboratory</span></p><h1>" + html::escape_short(plan.name, 100) +
      "</h1><p class=\"lead\">" +
      fmt::format(
          "An ablation: the program {} of the task {}, and the same program with parts switched off. "
          "Measured on {} (protocol {}, stage {}).</p></header>",
          html::escape_short(plan.program_file, 200), html::escape_short(plan.subject->name, 100),
          full.device.empty() ? std::string("an unnamed device") : html::escape_short(full.device, 200),
          full.protocol.empty() ? std::string("unknown") : html::escape_short(full.protocol, 60),
          to_string(plan.stage));
  page += variants_section(plan, outcome) + by_workload_section(outcome) + measures_section(outcome);
  page += "<section><h2>Config</h2><details><summary>with every default</summary><pre class=\"source\">" +
          html::escape(plan.resolved_config) + "</pre></details></section>";
  return page + "</main></body></html>\n";
}

}  // namespace kevo
