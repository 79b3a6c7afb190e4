#include "src/report/html_report.hpp"

#include <fmt/format.h>

#include "src/base/text/counted.hpp"
#include "src/base/text/format.hpp"
#include "src/base/text/further_baselines.hpp"
#include "src/base/text/two_times.hpp"
#include "src/report/html_text.hpp"
#include "src/report/setbacks.hpp"

namespace kevo {

namespace {

/// The best program's figure, what it says, and what it is compared with.
std::string headline(const report_content& content) {
  const run_history& h = content.history;
  if (!content.best) return "<div class=\"hero\"><p class=\"big none\">no valid candidate</p></div>";
  std::string text;
  const auto* crown = h.crown_of(*content.best);
  const auto& best = h.candidates()[*content.best];
  const auto* latest = best.latest();
  const double speedup = crown != nullptr ? crown->speedup : latest != nullptr ? latest->speedup : 0;
  const double score = crown != nullptr ? crown->score : best.score;
  const interval range = crown != nullptr    ? crown->speedup_interval
                         : latest != nullptr ? latest->speedup_interval
                                             : interval();
  const std::string baseline = content.best_evaluation && !content.best_evaluation->baseline.empty()
                                   ? html::escape_short(content.best_evaluation->baseline, 40)
                                   : "the baseline";
  if (speedup > 0) {
    text += "<div class=\"hero\"><p class=\"big\">" + format::speedup(speedup, true);
    text += range.high > range.low
                ? " <span class=\"range\">[" + format::interval(range.low, range.high, true) + "]</span>"
                : " <span class=\"range\">no interval</span>";
    text += "</p><p class=\"say\">the speed of <b>" + baseline + "</b>";
  } else {
    text += "<div class=\"hero\"><p class=\"big\">" + format::score(score) +
            "</p><p class=\"say\">score, larger is better";
  }
  const bool undecided = crown != nullptr && !crown->verdict.confirmed();
  if (const auto caution = format::caution(range.low, range.high);
      speedup > 0 && !caution.empty() && !undecided)
    text += "<br><span class=\"warn\">" + caution + "</span>";
  const auto twin = h.baseline_duplicates().find(*content.best);
  text +=
      undecided ? "<br><span class=\"warn\">undecided: " + html::escape_short(why_undecided(content), 300) +
                      "</span>"
      : crown != nullptr ? "<br><span class=\"ok\">✓ confirmed in a fresh process</span>"
      : twin != h.baseline_duplicates().end()
          ? "<br><span class=\"warn\">the program of the baseline itself: nothing faster was "
            "confirmed</span>"
          : "<br><span class=\"warn\">not confirmed: measured once, not repeated in a fresh process</span>";
  text += "</p>";
  if (content.best_evaluation) {
    const auto& e = *content.best_evaluation;
    if (e.sol_fraction > 0)
      text += "<p class=\"side\"><b>" + format::percent(e.sol_fraction) + "</b><br>of speed of light</p>";
    for (const auto& [name, both] : two_speedups(e, true))
      text += "<p class=\"side\"><b>" + both + "</b><br>by " + name + "</p>";
    std::size_t n = 0;
    for (const auto& [name, said] : further_speedups(e, true)) {
      if (++n <= 2)
        text +=
            "<p class=\"side\"><b>" + said + "</b><br>the speed of " + html::escape_short(name, 30) + "</p>";
    }
  }
  text += fmt::format("<p class=\"side\"><b>#{}</b><br>by {}</p></div>", *content.best,
                      html::escape_short(content.operator_name(best.op), 30));
  return text;
}

/// Where, how long and from what the run was.
std::string facts(const report_content& content) {
  const run_history& h = content.history;
  std::string text;
  const auto fact = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) text += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>", name, value);
  };
  text += "<dl class=\"facts\">";
  fact("device", html::escape_short(content.device, 120));
  fact("devices", html::escape_short(h.devices().shares(), 200));
  const std::uint64_t confirmations = h.spent().confirmations;
  fact("evaluations", format::count(h.evaluations() - confirmations) +
                          (confirmations > 0 ? fmt::format(" <small>+ {}</small>",
                                                           format::counted(confirmations, "confirmation"))
                                             : std::string()));
  fact("candidates", format::count(h.candidates().size()));
  fact("judged again", html::escape_short(content.judged.summary(), 200));
  fact("run time", format::duration(h.spent().elapsed_s));
  fact("seed", html::escape(content.seed));
  fact("stopped by",
       html::escape_short(h.stopped_by().value_or("not stopped: still running, or killed"), 80));
  fact("kevo", html::escape(content.version));
  fact("started", html::escape(content.started));
  text += "</dl>";
  return text;
}

std::string head(const report_content& content) {
  std::string text = "<header><p class=\"brand\">kevo <span>run report</span></p><h1>";
  text += html::escape_short(content.task.empty() ? content.run : content.task, 100);
  if (!content.task.empty() && !content.run.empty())
    text += " <small>" + html::escape_short(content.run, 100) + "</small>";
  text += "</h1>";
  text += headline(content) + facts(content);
  if (const auto* judged = content.best ? content.judged.of(*content.best) : nullptr;
      judged != nullptr && judged->verdict != "holds" && judged->verdict != "faster")
    text += "<p class=\"setback\">The best program was judged again: " +
            html::escape_short(judgement_text(*judged), 300) + "</p>";
  for (const auto& setback : setbacks_of(content))
    text += "<p class=\"setback\">" + html::escape(setback) + "</p>";
  if (!content.command.empty())
    text += "<p class=\"command\">Repeat it: <code>" + html::escape(content.command) + "</code></p>";
  return text + "</header>";
}

}  // namespace

std::string html_report(const report_content& content) {
  std::string page =
      html::begin_page(html::escape_short(content.task.empty() ? content.run : content.task, 80) + " · kevo");
  page += head(content);
  page += html::curve(content);
  page += html::workloads(content);
  page += html::comparison(content);
  page += html::lineage(content);
  page += html::archive(content);
  page += html::tables(content);
  page += html::conditions(content);
  page += "</main></body></html>\n";
  return page;
}

}  // namespace kevo
