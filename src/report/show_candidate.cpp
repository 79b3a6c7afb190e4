// What `kevo show` says of a candidate, as text for people.

#include <fmt/format.h>

#include "src/base/text/further_baselines.hpp"
#include "src/base/text/two_times.hpp"
#include "src/report/evaluation_text.hpp"
#include "src/report/show_writer.hpp"

namespace kevo {
namespace show {
namespace {

constexpr std::string_view stage_words[] = {"none",         "built",       "checked",
                                            "short timing", "full timing", "confirmed"};

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
  if (const auto file = content.seed_files.find(to_string(c.program)); file != content.seed_files.end())
    out.fact("seed file", line(out.safe(file->second)));
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
  if (const auto both = two_speedups(e, out.unicode()); !both.empty()) {
    out.head("Speedup by either time");
    for (const auto& [name, speedup] : both) out.fact(name, line(speedup));
  }
  if (const std::string built = build_text(e); !built.empty()) {
    out.head("Build options of the program");
    out.add(line("  " + out.safe(built)));
  }
  if (const auto others = further_speedups(e, out.unicode()); !others.empty()) {
    out.head("Speedup over further baselines");
    for (const auto& [name, speedup] : others) out.fact(out.safe(name), line(speedup));
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
}  // namespace show

std::string candidate_text(const report_content& content, const shown_candidate& one,
                           const show_style& style) {
  show::writer out(style);
  show::candidate_head(out, content, one);
  show::candidate_lineage(out, content, one.id, style);
  show::candidate_evaluations(out, content, one.id);
  if (one.evaluation) show::evaluation_details(out, *one.evaluation);
  return out.take();
}

}  // namespace kevo
