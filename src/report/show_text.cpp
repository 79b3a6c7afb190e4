#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "src/base/style/styled_text.hpp"
#include "src/base/text/counted.hpp"
#include "src/base/text/format.hpp"
#include "src/report/action_shares.hpp"
#include "src/report/evaluation_text.hpp"
#include "src/report/hidden_workloads.hpp"
#include "src/report/setbacks.hpp"
#include "src/report/show.hpp"

namespace kevo {

namespace {

using styled::line;
using styled::tone;

std::string readable(std::string_view name) {
  std::string text(name);
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

constexpr std::string_view stage_words[] = {"none",         "built",       "checked",
                                            "short timing", "full timing", "confirmed"};

/// Lines, and tables whose columns are as wide as their content.
class writer {
 public:
  explicit writer(const show_style& style) : style_(style) {}

  std::string safe(std::string_view text) const { return format::one_line(text, !style_.unicode); }
  std::string figure(double speedup, double score) const {
    return format::figure(speedup, score, style_.unicode);
  }
  std::string bare(double score, bool is_speedup) const {
    return format::bare_figure(score, is_speedup, style_.unicode);
  }
  std::string speedup(double v) const { return format::speedup(v, style_.unicode); }
  std::string time(double v) const { return format::time(v, style_.unicode); }
  std::string interval(const kevo::interval& v) const {
    return format::interval(v.low, v.high, style_.unicode);
  }
  std::string bracket(const kevo::interval& v) const {
    const std::string text = interval(v);
    return text.empty() ? text : " [" + text + "]";
  }
  std::string_view dot() const { return style_.unicode ? " · " : " - "; }

  void add(const line& l) { text_ += l.text(style_.color) + '\n'; }
  void blank() { text_ += '\n'; }
  void head(std::string_view title) {
    blank();
    add(line(title, tone::strong));
  }
  void fact(std::string_view name, const line& value) {
    line l;
    l.add("  ").add(name, tone::faint).add("  ").pad_to(20);
    add(l.add(value));
  }
  /// Columns that begin with '>' are flush right.
  void table(const std::vector<std::string>& titles, const std::vector<std::vector<line>>& rows) {
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
  std::string take() { return std::move(text_); }

 private:
  void cell(line& to, const line& value, std::size_t width, bool right) const {
    to.add("  ");
    const line cut = value.width() > width ? value.fitted(width, style_.unicode ? "…" : "~") : value;
    if (right) to.add(std::string(width - cut.width(), ' '));
    to.add(cut);
    if (!right) to.add(std::string(width - cut.width(), ' '));
  }

  show_style style_;
  std::string text_;
};

tone tone_of(const std::optional<outcome>& o) {
  return !o                                                 ? tone::faint
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
    const bool twin = content.history.baseline_twins().contains(id);
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
  if (hidden.all > 0)
    out.add(line("  " + describe(hidden),
                 hidden.passed + hidden.not_run == hidden.all ? tone::faint : tone::bad));
}

void run_title(writer& out, const report_content& content) {
  line title;
  title.add(out.safe(content.run.empty() ? content.folder : content.run), tone::strong);
  for (const auto& part : {content.task, content.device}) {
    if (!part.empty()) title.add(out.dot(), tone::faint).add(out.safe(part));
  }
  out.add(title);
}

void best_found(writer& out, const report_content& content) {
  const run_history& h = content.history;
  if (content.best) {
    line best = figure(out, content, *content.best);
    best.add(fmt::format("  #{}", *content.best))
        .add(" by " + out.safe(content.operator_name(h.candidates()[*content.best].op)), tone::faint);
    out.fact("best", best);
    if (const std::string why = why_undecided(content); !why.empty())
      out.fact("undecided", line(out.safe(why), tone::warning));
    if (content.best_evaluation) {
      const auto& e = *content.best_evaluation;
      line against;
      for (const auto& [name, ratio] : e.other_speedups)
        against.add(against.width() > 0 ? out.dot() : "")
            .add(format::percent(ratio))
            .add(" of " + out.safe(name), tone::faint);
      if (e.sol_fraction > 0)
        against.add(against.width() > 0 ? out.dot() : "")
            .add(format::percent(e.sol_fraction))
            .add(" of the speed of light", tone::faint);
      if (against.width() > 0) out.fact("that is", against);
    }
  } else {
    out.fact("best", line("no valid candidate", tone::warning));
  }
  if (const std::string judged = content.judged.summary(); !judged.empty())
    out.fact("judged again", line(out.safe(judged)));
  if (const auto* judged = content.best ? content.judged.of(*content.best) : nullptr;
      judged != nullptr && tone_of(*judged) != tone::good)
    out.fact("best, judged again", line(out.safe(judgement_text(*judged)), tone_of(*judged)));
}

void what_was_spent(writer& out, const run_history& h) {
  const auto& l = h.spent();
  out.fact("evaluations", line(fmt::format("{} + {}", format::count(l.evaluations),
                                           format::counted(l.confirmations, "confirmation"))));
  out.fact("candidates",
           line(fmt::format("{}, {} valid", format::count(h.candidates().size()), format::count(l.valid))));
  if (l.filtered > 0)
    out.fact("filtered", line(format::counted(l.filtered, "proposal") + ", never evaluated"));
  line outcomes;
  for (std::size_t i = 0; i < outcome_names.size(); ++i) {
    if (h.outcomes()[i] > 0)
      outcomes.add(outcomes.width() > 0 ? out.dot() : "", tone::faint)
          .add(readable(outcome_names[i]) + " ", tone_of(static_cast<outcome>(i)))
          .add(format::count(h.outcomes()[i]));
  }
  if (outcomes.width() > 0) out.fact("outcomes", outcomes);
  if (const std::string devices = h.devices().shares(); !devices.empty())
    out.fact("devices", line(out.safe(devices)));
  out.fact("run time", line(format::duration(l.elapsed_s)));
  if (l.waited_s >= 1)
    out.fact("waited", line(format::duration(l.waited_s) + " for other processes, not in the run time"));
  out.fact("stopped by", line(out.safe(h.stopped_by().value_or("not stopped: still running, or killed"))));
  if (l.variation.tokens_in + l.variation.tokens_out > 0) {
    out.fact("tokens", line(fmt::format("{} in, {} out",
                                        format::count(static_cast<std::uint64_t>(l.variation.tokens_in)),
                                        format::count(static_cast<std::uint64_t>(l.variation.tokens_out)))));
  }
}

void setbacks_and_operators(writer& out, const report_content& content) {
  const run_history& h = content.history;
  if (const auto setbacks = setbacks_of(content); !setbacks.empty()) {
    out.head("Setbacks");
    for (const auto& one : setbacks) out.add(line("  " + out.safe(one), tone::warning));
  }
  if (!h.operators().empty()) {
    out.head("Operators");
    std::vector<std::vector<line>> rows;
    for (std::size_t i = 0; i < h.operators().size(); ++i) {
      const auto& op = h.operators()[i];
      rows.push_back({line(out.safe(content.operator_name(static_cast<operator_index>(i)))),
                      line(format::count(op.turns)), line(format::count(op.proposals)),
                      line(format::count(op.duplicates)), line(format::count(op.filtered)),
                      line(format::count(op.valid)), line(format::count(op.improved)),
                      line(format::count(op.new_cells)), line(format::count(op.crowned)),
                      line(format::number(op.mean_reward()))});
    }
    out.table({"operator", ">turns", ">proposals", ">known", ">filtered", ">valid", ">improved", ">new niche",
               ">champions", ">reward/turn"},
              rows);
  }
}

void actions_of_rewrite(writer& out, const report_content& content) {
  const auto shares = action_shares(content);
  if (shares.empty()) return;
  out.head("Actions of rewrite");
  std::vector<std::vector<line>> rows;
  for (const action_share& one : shares) {
    rows.push_back({line(one.action), line(format::count(one.proposed)), line(format::count(one.valid)),
                    line(one.evaluated == 0 ? "" : format::percent(one.valid_share())),
                    line(format::count(one.incorrect)), line(format::count(one.build_failed)),
                    line(format::count(one.failed_otherwise)), line(format::count(one.better_than_parents))});
  }
  out.table({"action", ">proposed", ">valid", ">share", ">incorrect", ">build failed", ">other failures",
             ">better than parents"},
            rows);
}

/// The elites, or without an archive the candidates with the highest scores.
void best_candidates(writer& out, const report_content& content, const show_style& style) {
  const run_history& h = content.history;
  struct kept {
    candidate_id id;
    double score;
    std::string niche;
  };
  std::vector<kept> best;
  for (const auto& e : content.archive.kept) best.push_back({e.candidate, e.score, e.niche});
  const bool elites = !best.empty();
  if (!elites) {
    for (candidate_id id = 0; id < h.candidates().size(); ++id) {
      if (h.candidates()[id].ranked()) best.push_back({id, h.candidates()[id].score, ""});
    }
    std::stable_sort(best.begin(), best.end(),
                     [](const auto& a, const auto& b) { return a.score > b.score; });
  }
  if (!best.empty()) {
    out.head(elites ? "Elites" : "Best candidates");
    std::vector<std::vector<line>> rows;
    for (std::size_t i = 0; i < best.size() && i < style.limit; ++i) {
      const auto& c = h.candidates()[best[i].id];
      rows.push_back({line("#" + std::to_string(best[i].id)),
                      line(out.bare(best[i].score, h.scores_are_speedups()), tone::strong),
                      line(out.safe(content.operator_name(c.op)), tone::violet),
                      line(out.safe(elites ? best[i].niche : c.summary), tone::faint)});
    }
    out.table({"id", ">score", "operator", elites ? "niche" : "change"}, rows);
    if (best.size() > style.limit)
      out.add(line(fmt::format("  and {} more (--limit)", best.size() - style.limit), tone::faint));
  }
}

void candidate_head(writer& out, const report_content& content, const shown_candidate& one) {
  const auto& c = content.history.candidates()[one.id];
  line title;
  title.add(fmt::format("#{}", one.id), tone::strong).add("  ").add(figure(out, content, one.id));
  const bool champion = content.best == one.id && content.history.crown_of(one.id) != nullptr;
  if (champion) title.add("  champion", tone::good);
  out.add(title);
  if (const std::string why = why_undecided(content); champion && !why.empty())
    out.fact("undecided", line(out.safe(why), tone::warning));
  out.fact("operator", line(out.safe(content.operator_name(c.op)), tone::violet));
  if (!c.summary.empty()) out.fact("change", line(out.safe(c.summary)));
  if (!c.dropped.empty()) out.fact("dropped", line(out.safe(c.dropped)));
  if (!c.parents.empty()) out.fact("parents", ids(c.parents));
  if (!c.inspirations.empty()) out.fact("inspirations", ids(c.inspirations));
  if (const auto* judged = content.judged.of(one.id))
    out.fact("judged again", line(out.safe(judgement_text(*judged)), tone_of(*judged)));
  out.fact("born", line(format::duration(c.born_s) + " into the run"));
  out.fact("program", line(to_string(c.program)));
  if (one.program) {
    std::string files;
    for (const auto& f : one.program->files)
      files += (files.empty() ? "" : ", ") +
               fmt::format("{} ({})", out.safe(f.path), format::bytes(static_cast<double>(f.text.size())));
    out.fact("source", line(out.safe(one.program->language) + ": " + files));
  }
  if (c.cost.tokens_in + c.cost.tokens_out > 0)
    out.fact("tokens", line(fmt::format("{} in, {} out", c.cost.tokens_in, c.cost.tokens_out)));
}

void candidate_lineage(writer& out, const report_content& content, candidate_id id, const show_style& style) {
  const run_history& h = content.history;
  const auto path = h.main_line(id);
  if (path.size() > 1) {
    out.head("Lineage (the better parent of each)");
    std::vector<std::vector<line>> rows;
    const std::size_t skipped = path.size() > style.limit ? path.size() - style.limit : 0;
    for (std::size_t i = skipped; i < path.size(); ++i) {
      const auto& a = h.candidates()[path[i]];
      rows.push_back({line("#" + std::to_string(path[i])),
                      line(out.safe(content.operator_name(a.op)), tone::violet),
                      figure(out, content, path[i]), line(out.safe(a.summary), tone::faint)});
    }
    if (skipped > 0)
      out.add(line(fmt::format("  {} older steps are left out (--limit)", skipped), tone::faint));
    out.table({"id", "operator", h.scores_are_speedups() ? "speedup" : "score", "change"}, rows);
  }
}

void candidate_evaluations(writer& out, const report_content& content, candidate_id id) {
  const run_history& h = content.history;
  const auto& c = h.candidates()[id];
  if (!c.evaluations.empty()) {
    out.head("Evaluations");
    const bool relative = h.scores_are_speedups();
    std::vector<std::vector<line>> rows;
    for (const auto& e : c.evaluations) {
      rows.push_back(
          {line(format::duration(e.time_s)), line(readable(to_string(e.outcome)), tone_of(e.outcome)),
           line(stage_words[static_cast<std::size_t>(e.stage)]),
           line(out.bare(relative ? e.speedup : e.score, relative)), line(out.interval(e.speedup_interval)),
           line(readable(to_string(e.archived)) + (e.cached ? ", cached" : ""), tone::faint)});
    }
    out.table({">at", "outcome", "stage", relative ? ">speedup" : ">score", "interval", "archive"}, rows);
  }
}

void evaluation_details(writer& out, const evaluation& e) {
  workloads(out, e);
  if (const std::string built = build_text(e); !built.empty()) {
    out.head("Build options of the program");
    out.add(line("  " + out.safe(built)));
  }
  if (!e.other_speedups.empty()) {
    out.head("Further baselines");
    for (const auto& [name, ratio] : e.other_speedups) out.fact(out.safe(name), line(format::percent(ratio)));
  }
  if (!e.measures.empty()) {
    out.head("Measures");
    for (const auto& [name, value] : e.measures) out.fact(out.safe(name), line(format::number(value)));
  }
  if (!e.reasons.empty()) {
    out.head("Reasons");
    for (const auto& reason : e.reasons) out.add(line("  ").add(out.safe(reason), tone::bad));
  }
  if (!e.feedback.empty()) {
    out.head("Feedback");
    std::string_view rest = e.feedback;
    while (!rest.empty()) {
      const auto end = rest.find('\n');
      out.add(line("  ").add(out.safe(rest.substr(0, end))));
      rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    }
  }
}

}  // namespace

std::string run_text(const report_content& content, const show_style& style) {
  writer out(style);
  run_title(out, content);
  best_found(out, content);
  what_was_spent(out, content.history);
  setbacks_and_operators(out, content);
  actions_of_rewrite(out, content);
  best_candidates(out, content, style);
  return out.take();
}

std::string candidate_text(const report_content& content, const shown_candidate& one,
                           const show_style& style) {
  writer out(style);
  candidate_head(out, content, one);
  candidate_lineage(out, content, one.id, style);
  candidate_evaluations(out, content, one.id);
  if (one.evaluation) evaluation_details(out, *one.evaluation);
  return out.take();
}

}  // namespace kevo
