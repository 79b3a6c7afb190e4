// The page of a lab: the curves by evaluations, proposals and cost, then the tables.

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include <fmt/format.h>

#include "src/lab/lab.hpp"
#include "src/report/html_report.hpp"
#include "src/report/html_text.hpp"
#include "src/report/ticks.hpp"

namespace kevo {
namespace {

constexpr double plot_width = 1080, plot_height = 440, left_margin = 74, right_margin = 24, top_margin = 14,
                 bottom_margin = 46;
// Okabe and Ito's palette, then the same dashed: color-blind readers tell them apart.
constexpr std::array<const char*, 7> colors = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                               "#e69f00", "#56b4e9", "#7f7f7f"};

constexpr const char* style = R"css(
.lab-tabs>input{position:absolute;opacity:0}.lab-tabs>label{display:inline-block;font-size:13px;color:var(--faint);padding:3px 12px;border:1px solid var(--line);cursor:pointer;margin:0 4px 10px 0;border-radius:6px}
.lab-tabs>input:checked+label{background:var(--sheet);color:var(--ink);font-weight:600}.lab-tabs>input:focus-visible+label{outline:2px solid var(--accent)}
.lab-tabs>.pane{display:none}#axis-0:checked~.pane-0,#axis-1:checked~.pane-1,#axis-2:checked~.pane-2{display:block}
.legend{display:flex;flex-wrap:wrap;gap:4px 22px;font-size:13px;color:var(--soft);margin:6px 0 0}.legend svg{vertical-align:middle;margin-right:8px}
.mean{fill:none;stroke-width:2;stroke-linejoin:round}.spread{fill-opacity:.12;stroke-opacity:.45;stroke-width:.8}
@media (max-width:760px){.pane{overflow-x:auto}}
.better{color:var(--ok);font-weight:600}.worse{color:var(--warn);font-weight:600}
.whisker{display:block}.whisker .zero{stroke:var(--strong-line);stroke-dasharray:3 3}.whisker .range{stroke:var(--soft);stroke-width:2}.whisker circle{fill:var(--accent)}
@media print{.lab-tabs>.pane{display:block}}
)css";

const char* dash_of(std::size_t i) {
  return i < colors.size()       ? ""
         : i < 2 * colors.size() ? " stroke-dasharray=\"7 4\""
                                 : " stroke-dasharray=\"2 3\"";
}

std::string axis_label(lab_axis axis) {
  return axis == lab_axis::cost ? "simulated cost [s]" : std::string(to_string(axis));
}

/// The curves of one axis, drawn as they were given.
std::string picture(const std::vector<const lab_curve*>& curves, lab_axis axis) {
  double end = 0, low = 0, high = 0;
  for (const auto* curve : curves) {
    for (const auto& p : curve->points) {
      end = std::max(end, p.at);
      low = std::min(low, p.mean.range.low);
      high = std::max(high, p.mean.range.high);
    }
  }
  if (!(end > 0)) return "<p class=\"note\">Nothing was spent.</p>";
  high = std::max(high, 1.0);  // the optimum is always in the picture
  low = std::max(low, -1.0);
  const auto x = [&](double v) { return left_margin + (plot_width - left_margin - right_margin) * v / end; };
  const auto y = [&](double v) {
    return plot_height - bottom_margin -
           (plot_height - bottom_margin - top_margin) * (std::clamp(v, low, high) - low) / (high - low);
  };
  std::string svg = fmt::format(
      "<svg class=\"plot\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"Share of the optimum by {}\">",
      plot_width, plot_height, axis_label(axis));
  for (const double t : html::linear_ticks(low, high, 6)) {
    svg += fmt::format("<line class=\"{}\" x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>",
                       std::abs(t - 1) < 1e-9 ? "base" : "grid", left_margin, plot_width - right_margin, y(t),
                       y(t));
    svg += fmt::format("<text class=\"tick\" x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{:.1f}</text>",
                       left_margin - 8, y(t) + 4, t);
  }
  svg += fmt::format(
      "<text class=\"label\" x=\"16\" y=\"{0:.1f}\" transform=\"rotate(-90 16 {0:.1f})\" "
      "text-anchor=\"middle\">share of the optimum</text>",
      (top_margin + plot_height - bottom_margin) / 2);
  for (const double t : html::linear_ticks(0, end, 8)) {
    svg += fmt::format("<line class=\"tickmark\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/>", x(t),
                       plot_height - bottom_margin, plot_height - bottom_margin + 5);
    svg += fmt::format("<text class=\"tick\" x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{:.6g}</text>",
                       x(t), plot_height - bottom_margin + 19, t);
  }
  svg += fmt::format("<text class=\"label\" x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>",
                     plot_width - right_margin, plot_height - 6, axis_label(axis));
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const auto& points = curves[i]->points;
    if (points.empty()) continue;
    const char* color = colors[i % colors.size()];
    std::string band;
    for (const auto& p : points)
      band += fmt::format("{}{:.1f} {:.1f}", band.empty() ? "M" : "L", x(p.at), y(p.mean.range.high));
    for (auto p = points.rbegin(); p != points.rend(); ++p)
      band += fmt::format("L{:.1f} {:.1f}", x(p->at), y(p->mean.range.low));
    if (curves.size() <= 7)
      svg += fmt::format("<path class=\"spread\" fill=\"{0}\" stroke=\"{0}\" d=\"{1}Z\"/>", color, band);
    std::string line;
    for (const auto& p : points)
      line += fmt::format("{}{:.1f} {:.1f}", line.empty() ? "M" : "L", x(p.at), y(p.mean.value));
    svg += fmt::format("<path class=\"mean\" stroke=\"{}\"{} d=\"{}\"><title>{}</title></path>", color,
                       dash_of(i), line, html::escape_short(curves[i]->policy, 60));
  }
  return svg + "</svg>";
}

std::string legend(const std::vector<const lab_curve*>& curves) {
  std::string text = "<div class=\"legend\">";
  for (std::size_t i = 0; i < curves.size(); ++i) {
    text += fmt::format(
        "<span><svg width=\"26\" height=\"8\"><path stroke=\"{}\" stroke-width=\"2.4\"{} d=\"M0 "
        "4H26\"/></svg>{}</span>",
        colors[i % colors.size()], dash_of(i), html::escape_short(curves[i]->policy, 60));
  }
  return text + "</div>";
}

std::string curves_of(const lab_plan& plan, const lab_results& results) {
  std::string text = "<section><h2>Best so far</h2><div class=\"lab-tabs\">";
  std::string panes;
  for (std::size_t axis = 0; axis < lab_axis_names.size(); ++axis) {
    std::vector<const lab_curve*> chosen;
    for (const auto& curve : results.curves) {
      if (curve.axis == static_cast<lab_axis>(axis)) chosen.push_back(&curve);
    }
    text += fmt::format(
        "<input type=\"radio\" name=\"axis\" id=\"axis-{0}\"{1}><label for=\"axis-{0}\">by {2}</label>", axis,
        static_cast<lab_axis>(axis) == plan.unit ? " checked" : "", axis_label(static_cast<lab_axis>(axis)));
    panes += fmt::format("<div class=\"pane pane-{}\">", axis) +
             picture(chosen, static_cast<lab_axis>(axis)) + legend(chosen) + "</div>";
  }
  return text + panes +
         fmt::format(
             "</div><p class=\"note\">Mean over {} seeds of log(speedup) / log(largest possible speedup): 0 "
             "is the seed program, 1 the optimum. {}A curve ends where the first of its searches "
             "ended.</p></section>",
             plan.seeds,
             plan.policies.size() <= 7
                 ? fmt::format("Bands: {:g} % intervals of the mean. ", plan.confidence * 100)
                 : "Intervals are in the table. ");
}

std::string range(const estimate& e) {
  return fmt::format("{:.3f} <small>[{:.3f}, {:.3f}]</small>", e.value, e.range.low, e.range.high);
}

std::string table_of(const lab_plan& plan, const lab_results& results) {
  std::string text = fmt::format(
      "<section><h2>Policies</h2><div class=\"scroll\"><table><tr><th>policy<th class=\"n\">{}<th "
      "class=\"n\">mean "
      "share<th class=\"n\">median share<th class=\"n\">quartiles<th class=\"n\">speedup<th "
      "class=\"n\">optimal</tr>",
      to_string(plan.unit));
  for (const auto& r : results.rows) {
    text += fmt::format(
        "<tr><td>{}<td class=\"n\">{:g}<td class=\"n\">{}<td class=\"n\">{}<td class=\"n\">{:.3f} … "
        "{:.3f}<td "
        "class=\"n\">{}<td class=\"n\">{:.0f} %</tr>",
        html::escape_short(r.policy, 60), r.budget, range(r.mean), range(r.median), r.lower_quartile,
        r.upper_quartile, r.speedup > 0 ? fmt::format("{:.2f}×", r.speedup) : "–", 100 * r.optimal);
  }
  return text +
         fmt::format(
             "</table></div><p class=\"note\">{:g} % intervals: of means by Student's t, of medians by "
             "bootstrap. Speedup: geometric mean of true values over the seed program. Optimal: "
             "searches within 1 % of the optimum.</p></section>",
             plan.confidence * 100);
}

std::string whisker(const estimate& e, double reach) {
  const auto x = [reach](double v) { return 100 + 96 * std::clamp(v / reach, -1.0, 1.0); };
  return fmt::format(
      "<svg class=\"whisker\" width=\"200\" height=\"14\"><line class=\"zero\" x1=\"100\" x2=\"100\" "
      "y1=\"0\" "
      "y2=\"14\"/><line class=\"range\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"7\" y2=\"7\"/><circle cx=\"{:.1f}\" "
      "cy=\"7\" "
      "r=\"3.5\"/></svg>",
      x(e.range.low), x(e.range.high), x(e.value));
}

std::string differences_of(const lab_plan& plan, const lab_results& results) {
  if (results.differences.empty()) return {};
  double reach = 1e-9;
  for (const auto& d : results.differences)
    reach = std::max({reach, std::abs(d.mean.range.low), std::abs(d.mean.range.high)});
  std::string text = fmt::format(
      "<section><h2>Differences, seed by seed</h2><div class=\"scroll\"><table><tr><th>policy<th>minus<th "
      "class=\"n\">{}<th class=\"n\">difference of shares<th><th class=\"n\">better, same, worse<th "
      "class=\"n\">p (Holm)</tr>",
      to_string(plan.unit));
  for (const auto& d : results.differences) {
    // One row of many has an interval without 0 by chance: only the adjusted p-value decides.
    const bool shown = d.p_holm < 1 - plan.confidence;
    const char* tone = !shown ? "faint" : d.mean.value > 0 ? "better" : "worse";
    text += fmt::format(
        "<tr><td>{}<td>{}<td class=\"n\">{:g}<td class=\"n {}\">{:+.3f} <small>[{:+.3f}, "
        "{:+.3f}]</small><td>{}<td "
        "class=\"n\">{}, {}, {}<td class=\"n\">{}</tr>",
        html::escape_short(d.pair.policy, 60), html::escape_short(d.pair.against, 60), d.budget, tone,
        d.mean.value, d.mean.range.low, d.mean.range.high, whisker(d.mean, reach), d.wins, d.ties, d.losses,
        d.p_holm < 0.001 ? "&lt; 0.001" : fmt::format("{:.3f}", d.p_holm));
  }
  return text +
         fmt::format(
             "</table></div><p class=\"note\">{:g} % intervals of the mean difference by a paired t test, "
             "each alone; p-values are adjusted for all rows of this table (Holm). "
             "A difference has a colour only where its adjusted p-value is below {:g}.</p></section>",
             plan.confidence * 100, 1 - plan.confidence);
}

}  // namespace

std::string lab_page(const lab_plan& plan, const lab_results& results) {
  std::string page =
      html::begin_page(html::escape_short(plan.name, 80) + " · kevo", style) +
      "<header><p class=\"brand\">kevo <span>laboratory</span></p><h1>" + html::escape_short(plan.name, 100) +
      "</h1><p class=\"lead\">" + html::escape_short(plan.problem.description, 300) +
      fmt::format(
          ". {} policies, seeds {} to {}. Every figure is the true value, without noise, of the program that "
          "a search takes for the best one: {}.</p></header>",
          plan.policies.size(), plan.first_seed, plan.first_seed + plan.seeds - 1,
          plan.believed == believed_program::champion ? "its confirmed champion"
                                                      : "the one with the best score");
  page += curves_of(plan, results) + differences_of(plan, results) + table_of(plan, results);
  page += "<section><h2>Config</h2><details><summary>with every default</summary><pre class=\"source\">" +
          html::escape(plan.resolved_config) + "</pre></details></section>";
  return page + "</main></body></html>\n";
}

}  // namespace kevo
