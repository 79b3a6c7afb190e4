// The page of a suite: shares of tasks, means, and every task.

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "src/base/text/format.hpp"
#include "src/base/text/verdict_text.hpp"
#include "src/report/html_report.hpp"
#include "src/report/html_text.hpp"
#include "src/suite/bench_report.hpp"

namespace kevo {
namespace {

constexpr const char* page_style = R"css(
.share{position:relative;height:14px;min-width:200px;background:var(--line);border-radius:2px}
.share i{position:absolute;top:0;bottom:0;background:var(--accent)}.share i.maybe{background:var(--accent);opacity:.4}
.share u{position:absolute;top:6px;height:2px;background:var(--ink);opacity:.75}
.share u::before,.share u::after{content:"";position:absolute;top:-3px;height:8px;width:2px;background:var(--ink)}.share u::before{left:0}.share u::after{right:0}
td.w{width:38%}.ratio{position:relative;height:14px;min-width:180px}.ratio .one{position:absolute;top:0;bottom:0;width:1px;background:var(--strong-line)}
.ratio .span{position:absolute;top:5px;height:4px;min-width:2px;background:var(--soft);border-radius:2px}.ratio .at{position:absolute;top:2px;width:10px;height:10px;margin-left:-5px;border-radius:50%;background:var(--accent)}
.hero .say{flex:1 1 300px}td.why{white-space:normal;overflow-wrap:anywhere;min-width:220px}i.o-none{background:var(--pending)}
.legend{font-size:13px;color:var(--soft);margin:8px 0 0}.legend i{display:inline-block;width:18px;height:10px;background:var(--accent);margin:0 7px 0 20px;border-radius:2px}.legend i:first-child{margin-left:0}.legend i.maybe{opacity:.4}.legend i.line{height:2px;background:var(--ink);vertical-align:middle}
)css";

std::string ratio_text(const mean_figure& f) {
  return f.values == 0 ? "–" : format::speedup(f.value, true);
}

std::string spread_text(const std::optional<interval>& range) {
  if (!range) return "";
  return fmt::format(" <small>[{}, {}]</small>", format::number(range->low), format::number(range->high));
}

std::string share_bar(const task_share& s) {
  return fmt::format(
      "<div class=\"share\"><i style=\"left:0;width:{:.2f}%\"></i><i class=\"maybe\" "
      "style=\"left:{:.2f}%;width:{:.2f}%\"></i><u style=\"left:{:.2f}%;width:{:.2f}%\"></u></div>",
      100 * s.low(), 100 * s.low(), 100 * (s.high() - s.low()), 100 * s.range.low,
      100 * (s.range.high - s.range.low));
}

std::string share_row(const std::string& name, const task_share& s, std::optional<double> of_one,
                      bool several) {
  return fmt::format(
             "<tr><td class=\"strong\">{}<td class=\"n\">{:.2f}<td class=\"n\">{} of {}<td class=\"w\">{}<td "
             "class=\"n\">[{:.2f}, {:.2f}]<td class=\"n{}\">{}<td class=\"n\">[{:.2f}, {:.2f}]",
             name, s.value(), s.counted, s.tasks, share_bar(s), s.low(), s.high(),
             s.undecided == 0 ? " zero" : "", s.undecided, s.range.low, s.range.high) +
         (!several ? ""
          : of_one ? fmt::format("<td class=\"n\">{:.2f}", *of_one)
                   : std::string("<td>"));
}

std::string shares_of(const bench_report& report) {
  const group_scores& all = report.groups.front();
  const bool several = std::any_of(report.outcome.tasks.begin(), report.outcome.tasks.end(),
                                   [](const bench_task& one) { return one.solutions.size() > 1; });
  std::string text = fmt::format(
      "<section><h2>Share of all {} tasks</h2><div class=\"scroll\"><table><tr><th><th class=\"n\">share<th "
      "class=\"n\">tasks<th><th class=\"n\">decided<th class=\"n\">undecided<th class=\"n\">{:g} % "
      "interval{}</tr>",
      all.tasks, 100 * report.plan.scores.confidence, several ? "<th class=\"n\">of one" : "");
  text += share_row("Call", all.call, {}, several) + share_row("Exe", all.exe, {}, several);
  if (all.given_size.counted != all.exe.counted)
    text += share_row("Exe, given size", all.given_size, {}, several);
  for (const auto& f : all.fast) text += share_row(fmt::format("fast_{:g}", f.p), f.share, f.of_one, several);
  return text +
         "</table></div><p class=\"legend\"><i></i>decided<i class=\"maybe\"></i>undecided: the interval of "
         "the task's "
         "speedup contains p<i class=\"line\"></i>interval of the share</p><p class=\"note\">Call: built, "
         "and ran to its "
         "end. Exe: correct. fast_p: correct, and more than p times as fast as the baseline. A task without "
         "a correct "
         "solution counts as not fast.</p></section>";
}

std::string group_rows(const bench_report& report, std::string_view kind, const char* title) {
  std::string rows;
  for (const auto& g : report.groups) {
    if (g.kind != kind) continue;
    rows += fmt::format("<tr><td>{}<td class=\"n\">{}<td class=\"n\">{:.2f}<td class=\"n\">{:.2f}",
                        g.name.empty() ? "<span class=\"faint\">none</span>" : html::escape_short(g.name, 60),
                        g.tasks, g.call.value(), g.exe.value());
    for (const auto& f : g.fast) {
      rows += fmt::format("<td class=\"n\">{:.2f}", f.share.value());
      if (f.share.undecided > 0)
        rows += fmt::format(" <small>[{:.2f}, {:.2f}]</small>", f.share.low(), f.share.high());
    }
    rows += fmt::format("<td class=\"n\">{}{}<td class=\"n\">{}<td class=\"n\">{}</tr>",
                        ratio_text(g.geometric_mean), spread_text(g.geometric_mean.range),
                        ratio_text(g.median), ratio_text(g.amsr));
  }
  if (rows.empty()) return {};
  std::string head;
  for (const auto& f : report.groups.front().fast) head += fmt::format("<th class=\"n\">fast_{:g}", f.p);
  return fmt::format(
      "<section><h2>{}</h2><div class=\"scroll\"><table><tr><th>{}<th class=\"n\">tasks<th "
      "class=\"n\">Call<th "
      "class=\"n\">Exe{}<th class=\"n\">geometric mean<th class=\"n\">median<th "
      "class=\"n\">AMSR</tr>{}</table></div>"
      "<p class=\"note\">Small brackets beside a share: decided, and decided with undecided.</p></section>",
      title, kind, head, rows);
}

/// Positions of speedups on a logarithmic axis that holds all of them and 1.
struct ratio_axis {
  double low = 0.5;
  double high = 2;
  explicit ratio_axis(const bench_outcome& outcome) {
    for (const auto& one : outcome.tasks) {
      const auto* e = one.judged();
      if (e == nullptr || !e->valid() || !(e->speedup > 0)) continue;
      low = std::min(low, e->speedup_interval.low > 0 ? e->speedup_interval.low : e->speedup);
      high = std::max({high, e->speedup, e->speedup_interval.high});
    }
    if (!std::isfinite(high)) high = 1e6;
  }
  double at(double x) const {
    const double place = 100 * (std::log(x) - std::log(low)) / (std::log(high) - std::log(low));
    return std::isfinite(place) ? std::clamp(place, 0.0, 100.0) : 0;
  }
};

std::string ratio_picture(const evaluation& e, const ratio_axis& axis) {
  const bool spread = e.speedup_interval.high > 0;
  const double low = axis.at(spread ? e.speedup_interval.low : e.speedup);
  const double high = axis.at(spread ? e.speedup_interval.high : e.speedup);
  return fmt::format(
      "<div class=\"ratio\"><span class=\"one\" style=\"left:{:.2f}%\"></span><span class=\"span\" "
      "style=\"left:{:.2f}%;width:{:.2f}%\"></span><span class=\"at\" style=\"left:{:.2f}%\"></span></div>",
      axis.at(1), low, high - low, axis.at(e.speedup));
}

std::string task_row(const bench_task& one, const ratio_axis& axis) {
  const evaluation* e = one.judged();
  const bool valid = e != nullptr && e->valid();
  std::string row =
      fmt::format("<tr><td>{}<td><i class=\"dot o-{}\"></i>{}", html::escape_short(one.entry.name, 60),
                  e != nullptr ? to_string(e->outcome) : "none", task_word(one));
  if (valid && e->speedup > 0) {
    row += fmt::format(
        "<td class=\"n\"><b>{}</b>{}<td class=\"w\">{}<td class=\"n\">{}", format::speedup(e->speedup, true),
        e->speedup_interval.high > e->speedup_interval.low ? spread_text(e->speedup_interval) : "",
        ratio_picture(*e, axis), e->sol_fraction > 0 ? format::percent(e->sol_fraction) : "–");
  } else if (valid) {
    row += fmt::format(
        "<td class=\"n\">{}<td><td class=\"n\">–",
        format::has_score(e->outcome, e->stage, e->score) ? "score " + format::score(e->score) : "–");
  } else {
    row += fmt::format("<td class=\"why faint\" colspan=\"3\">{}", html::escape_short(task_reason(one), 240));
  }
  return row + fmt::format("<td>{}<td>{}<td>{}</tr>",
                           one.best ? html::escape_short(one.solutions[*one.best].name, 40) +
                                          (one.solutions.size() > 1
                                               ? fmt::format(" <small>of {}</small>", one.solutions.size())
                                               : "")
                                    : "–",
                           html::escape_short(one.level, 30), html::escape_short(one.category, 30));
}

std::string tasks_section(const bench_report& report) {
  const ratio_axis axis(report.outcome);
  std::string text =
      "<section><h2>Tasks</h2><div class=\"scroll\"><table><tr><th>task<th>outcome<th "
      "class=\"n\">speedup<th>over the "
      "baseline<th class=\"n\">of SOL<th>solution<th>level<th>category</tr>";
  for (const auto& one : report.outcome.tasks) text += task_row(one, axis);
  return text +
         "</table></div><p class=\"note\">The axis is logarithmic; the line marks 1, as fast as the "
         "baseline. Bars: 99 % "
         "intervals of the measurement, unless the evaluation says otherwise. SOL (speed of light): the time "
         "that "
         "bandwidth and arithmetic of the device allow.</p></section>";
}

std::string speed_section(const bench_report& report) {
  const group_scores& all = report.groups.front();
  std::string text = fmt::format(
      "<section><h2>Speed</h2><dl><dt>geometric mean<dd><b>{}</b>{} of {} of {} tasks, "
      "{}<dt>median<dd><b>{}</b>{} of "
      "the same tasks<dt>AMSR<dd><b>{}</b>{}: {}<dt>mean<dd><b>{}</b>{}: the same with slower solutions "
      "counted as "
      "they are",
      ratio_text(all.geometric_mean), spread_text(all.geometric_mean.range), all.geometric_mean.values,
      all.tasks, geometric_mean_bias(), ratio_text(all.median), spread_text(all.median.range),
      ratio_text(all.amsr), spread_text(all.amsr.range), amsr_meaning(), ratio_text(all.mean),
      spread_text(all.mean.range));
  if (all.sol_fraction > 0)
    text += fmt::format("<dt>of SOL<dd><b>{}</b>: median share of the speed of light, over correct solutions",
                        format::percent(all.sol_fraction));
  if (all.sol_score)
    text += fmt::format(
        "<dt>SOL score<dd><b>{:.3f}</b>: 0.5 is the baseline, 1 the speed of light; a task without a correct "
        "solution "
        "counts 0",
        *all.sol_score);
  return text + "</dl></section>";
}

std::string conditions_of(const bench_report& report) {
  std::set<std::string> devices;
  std::set<std::string> protocols;
  for (const auto& one : report.outcome.tasks) {
    if (const auto* e = one.judged()) devices.insert(e->device), protocols.insert(e->protocol);
  }
  const auto list = [](const std::set<std::string>& all) {
    std::string text;
    for (const auto& one : all) text += (text.empty() ? "" : ", ") + html::escape_short(one, 100);
    return text.empty() ? std::string("–") : text;
  };
  return fmt::format(
      "<section><h2>How it was "
      "measured</h2><dl><dt>device<dd>{}<dt>protocol<dd>{}<dt>stage<dd>{}</dl><details><summary>"
      "the suite with every default</summary><pre class=\"source\">{}</pre></details></section>",
      list(devices), list(protocols), to_string(report.plan.stage), html::escape(report.plan.resolved));
}

const fast_share* fast_one(const group_scores& all) {
  for (const auto& f : all.fast) {
    if (f.p == 1) return &f;
  }
  return nullptr;
}

std::string header_of(const bench_report& report) {
  const group_scores& all = report.groups.front();
  std::string text = "<header><p class=\"brand\">kevo <span>bench</span></p><h1>" +
                     html::escape_short(report.plan.name, 100) + "</h1>";
  const fast_share* one = fast_one(all);
  const task_share& main = one != nullptr ? one->share : all.exe;
  text += fmt::format(
      "<div class=\"hero\"><p class=\"big\">{:.0f} %</p><p class=\"say\"><b>{}</b>: {} of {} tasks have a "
      "correct solution{}"
      "<br>{}</p><p class=\"side\">geometric mean<br><b>{}</b><br>of {} correct only</p><p "
      "class=\"side\">AMSR<br><b>{}</b><br>of all {}</p></div>",
      100 * main.value(), one != nullptr ? "fast_1" : "correct", main.counted, main.tasks,
      one != nullptr ? " that is faster than the baseline" : "",
      fmt::format("decided {:.0f} – {:.0f} %, {:g} % interval {:.0f} – {:.0f} %", 100 * main.low(),
                  100 * main.high(), 100 * report.plan.scores.confidence, 100 * main.range.low,
                  100 * main.range.high),
      ratio_text(all.geometric_mean), all.geometric_mean.values, ratio_text(all.amsr), all.tasks);
  for (const auto& remark : remarks(report)) text += "<p class=\"setback\">" + html::escape(remark) + "</p>";
  return text + "</header>";
}

}  // namespace

std::string bench_page(const bench_report& report) {
  return html::begin_page(html::escape_short(report.plan.name, 80) + " · kevo bench", page_style) +
         header_of(report) + shares_of(report) + speed_section(report) +
         group_rows(report, "level", "By level") + group_rows(report, "category", "By category") +
         tasks_section(report) + perf_section(report) + conditions_of(report) + "</main></body></html>\n";
}

}  // namespace kevo
