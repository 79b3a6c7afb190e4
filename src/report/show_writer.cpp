#include "src/report/show_writer.hpp"

#include <algorithm>
#include <vector>

#include "src/base/text/two_times.hpp"
#include "src/report/hidden_workloads.hpp"

namespace kevo::show {

std::string readable(std::string_view name) {
  std::string text(name);
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

void writer::table(const std::vector<std::string>& titles, const std::vector<std::vector<line>>& rows) {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < titles.size(); ++i) {
    std::size_t width = format::width_of(titles[i]) - (titles[i].starts_with('>') ? 1 : 0);
    for (const auto& row : rows) width = std::max(width, row[i].width());
    widths.push_back(std::min<std::size_t>(width, 72));
  }
  line top;
  for (std::size_t i = 0; i < titles.size(); ++i) {
    const bool right = titles[i].starts_with('>');
    cell(top, line(titles[i].substr(right ? 1 : 0), tone::faint), widths[i], right);
  }
  add(top);
  for (const auto& row : rows) {
    line l;
    for (std::size_t i = 0; i < titles.size(); ++i) cell(l, row[i], widths[i], titles[i].starts_with('>'));
    add(l);
  }
}
void writer::cell(line& to, const line& value, std::size_t width, bool right) const {
  to.add("  ");
  const line cut = value.width() > width ? value.fitted(width, style_.unicode ? "…" : "~") : value;
  if (right) to.add(std::string(width - cut.width(), ' '));
  to.add(cut);
  if (!right) to.add(std::string(width - cut.width(), ' '));
}

tone tone_of(const std::optional<outcome>& o) {
  return !o || o == outcome::unchecked                      ? tone::faint
         : o == outcome::valid                              ? tone::good
         : o == outcome::timed_out || o == outcome::suspect ? tone::warning
                                                            : tone::bad;
}

tone tone_of(const judged_again& judged) {
  return judged.verdict == "holds" || judged.verdict == "faster" ? tone::good
         : judged.verdict == "fell"                              ? tone::bad
                                                                 : tone::warning;
}

bool measured_again(const evaluation_record& e) {
  return e.stage == evaluation_stage::confirmed;
}

line figure(const writer& out, const report_content& content, candidate_id id) {
  const auto& c = content.history.candidates()[id];
  const auto* crown = content.history.crown_of(id);
  const auto* latest = c.latest();
  line l;
  if (crown != nullptr) {
    l.add(out.figure(crown->speedup, crown->score), tone::good_strong)
        .add(out.bracket(crown->speedup_interval), tone::faint);
    const bool sure = crown->verdict.confirmed();
    l.add(sure ? " confirmed" : " undecided", sure ? tone::good : tone::warning);
  } else if (latest == nullptr) {
    l.add(c.dropped.empty() ? "not evaluated" : "dropped by the proposal filter", tone::faint);
  } else if (latest->outcome != outcome::valid) {
    l.add(readable(to_string(latest->outcome)), tone_of(latest->outcome));
  } else {
    l.add(out.figure(latest->speedup, c.score), tone::strong);
    l.add(out.bracket(latest->speedup_interval), tone::faint);
    const bool twin = content.history.baseline_duplicates().contains(id);
    const bool sure =
        measured_again(*latest) && verdict_on(latest->speedup, latest->speedup_interval, {}).confirmed();
    const std::string_view word = twin                      ? " the program of the baseline"
                                  : sure                    ? " confirmed"
                                  : measured_again(*latest) ? " undecided"
                                                            : " unconfirmed";
    l.add(word, twin ? tone::faint : sure ? tone::good : tone::warning);
  }
  return l;
}

line ids(const std::vector<candidate_id>& list) {
  line l;
  for (const candidate_id id : list) l.add(l.width() > 0 ? " #" : "#").add(std::to_string(id));
  return l;
}

void workloads(writer& out, const evaluation& e) {
  std::vector<std::vector<line>> rows;
  for (const auto& w : e.workloads) {
    if (w.hidden) continue;
    std::string size;
    for (const auto& [name, value] : w.axes)
      size += (size.empty() ? "" : " ") + name + "=" + std::to_string(value);
    rows.push_back({line(out.safe(w.uuid)), line(out.safe(size), tone::faint),
                    line(readable(to_string(w.outcome)), tone_of(w.outcome)), line(out.time(w.time_ns)),
                    line(w.time_interval.high > 0
                             ? out.time(w.time_interval.low) + " - " + out.time(w.time_interval.high)
                             : "-",
                         tone::faint),
                    line(out.time(w.baseline_ns)), line(out.speedup(w.speedup), tone::strong),
                    line(w.sol_fraction > 0 ? format::percent(w.sol_fraction) : "-")});
  }
  const auto hidden = count_hidden(e);
  if (rows.empty() && hidden.all == 0) return;
  out.head("Workloads");
  if (!rows.empty()) {
    out.table(
        {"name", "size", "outcome", ">time", ">interval",
         ">" + (e.baseline.empty() ? std::string("baseline") : out.safe(e.baseline)), ">speedup", ">of SOL"},
        rows);
  }
  std::vector<std::vector<line>> both;
  for (const auto& w : e.workloads) {
    if (w.hidden || !has_two_times(w)) continue;
    auto& row = both.emplace_back();
    row.emplace_back(out.safe(w.uuid));
    for (const auto& cell : two_times_cells(w, out.unicode())) row.emplace_back(cell);
  }
  if (!both.empty()) {
    out.table({"name", ">device", ">interval", ">baseline", ">speedup", ">host", ">interval", ">baseline",
               ">speedup"},
              both);
  }
  if (hidden.all > 0)
    out.add(line("  " + describe(hidden),
                 hidden.passed + hidden.not_run == hidden.all ? tone::faint : tone::bad));
}

}  // namespace kevo::show
