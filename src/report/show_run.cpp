// What `kevo show` says of a run, as text for people.

#include <fmt/format.h>

#include "src/base/text/counted.hpp"
#include "src/base/text/further_baselines.hpp"
#include "src/base/text/two_times.hpp"
#include "src/report/action_shares.hpp"
#include "src/report/setbacks.hpp"
#include "src/report/show_writer.hpp"

namespace kevo {
namespace show {
namespace {

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
      for (const auto& [name, speedup] : further_speedups(e, out.unicode()))
        against.add(against.width() > 0 ? out.dot() : "")
            .add(speedup)
            .add(" the speed of " + out.safe(name), tone::faint);
      if (e.sol_fraction > 0)
        against.add(against.width() > 0 ? out.dot() : "")
            .add(format::percent(e.sol_fraction))
            .add(" of the speed of light", tone::faint);
      if (against.width() > 0) out.fact("that is", against);
      for (const auto& [name, speedup] : two_speedups(e, out.unicode()))
        out.fact("by " + name, line(speedup));
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
    out.table({"operator", ">turns", ">proposals", ">known", ">filtered", ">valid", ">improved", ">new cell",
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
    out.table({"id", ">score", "operator", elites ? "cell" : "change"}, rows);
    if (best.size() > style.limit)
      out.add(line(fmt::format("  and {} more (--limit)", best.size() - style.limit), tone::faint));
  }
}

}  // namespace
}  // namespace show

std::string run_text(const report_content& content, const show_style& style) {
  show::writer out(style);
  show::run_title(out, content);
  show::best_found(out, content);
  show::what_was_spent(out, content.history);
  show::setbacks_and_operators(out, content);
  show::actions_of_rewrite(out, content);
  show::best_candidates(out, content, style);
  return out.take();
}

}  // namespace kevo
