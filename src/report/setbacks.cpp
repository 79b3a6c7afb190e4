#include "src/report/setbacks.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "operators/llm/model_failure.hpp"
#include "src/base/text/format.hpp"
#include "src/base/text/utf8.hpp"
#include "src/base/text/verdict_text.hpp"

namespace kevo {
namespace {

constexpr std::uint64_t enough_turns = 3;
constexpr std::size_t most_seeds = 3;
constexpr std::size_t most_bytes = 300;  // of a reason

std::string reason(const std::string& text) {
  const std::string line = format::one_line(text.substr(0, text.find('\n')));
  std::size_t end = 0;
  while (end < std::min(line.size(), most_bytes)) next_code_point(line, end);
  return end < line.size() ? line.substr(0, end) + "..." : line;
}

/// That a run that has ended found nothing faster than the baseline; empty if it did, or if it has not ended.
std::string nothing_faster(const report_content& content) {
  const run_history& h = content.history;
  if (!h.stopped_by()) return {};
  if (h.champion() == nullptr) {
    if (h.baseline_duplicates().empty()) return {};
    const auto& [twin, name] = *h.baseline_duplicates().begin();
    return fmt::format("{}; candidate {} is the baseline itself", format::nothing_faster(name), twin);
  }
  const champion_record& best = *h.champion();
  if (!(best.speedup > 0) || !(best.speedup_interval.high < 1)) return {};
  return format::nothing_faster(content.best_evaluation ? content.best_evaluation->baseline : "");
}

}  // namespace

std::vector<std::string> setbacks_of(const report_content& content) {
  const run_history& h = content.history;
  std::vector<std::string> all;
  if (h.spent().valid == 0) {
    for (const auto& [seed, why] : h.failed_seeds()) {
      if (all.size() == most_seeds) break;
      all.push_back(fmt::format("seed {}: {} (`kevo show {} {}` says more)", seed, reason(why),
                                content.folder.empty() ? "RUN" : content.folder, seed));
    }
  }
  if (const std::string said = nothing_faster(content); !said.empty()) all.push_back(said);
  for (const auto& loss : h.devices().losses)
    all.push_back("devices that failed during the run and were no longer used: " + reason(loss) +
                  " (`kevo resume` tries it again)");
  for (const auto& [who, words] : h.devices().disagreements)
    all.push_back(fmt::format("devices disagree about candidate {}: {}", who, reason(words)));
  for (std::size_t i = 0; i < h.operators().size(); ++i) {
    const auto& op = h.operators()[i];
    const std::string name = content.operator_name(static_cast<operator_index>(i));
    // One turn of a model may stand for minutes of tries; other operators often have nothing to do at first.
    const bool model_failed = is_model_failure(op.refusal);
    const bool never = op.turns > 0 && op.no_proposals == op.turns;
    if (never && (model_failed || op.turns >= enough_turns)) {
      all.push_back(op.turns == 1
                        ? fmt::format("{}: its only turn gave no program: {}", name, reason(op.refusal))
                        : fmt::format("{}: none of its {} turns gave a program; the last: {}", name, op.turns,
                                      reason(op.refusal)));
    } else if (model_failed && op.refused_in_a_row >= enough_turns) {
      all.push_back(fmt::format("{}: its last {} turns gave no program; the last: {}", name,
                                op.refused_in_a_row, reason(op.refusal)));
    }
  }
  return all;
}

std::string why_undecided(const report_content& content) {
  const champion_record* crown = content.crown();
  if (crown == nullptr) return {};
  const std::string disturbed =
      content.best_evaluation ? format::disturbance_in(content.best_evaluation->context) : std::string();
  return format::why_undecided(crown->verdict, crown->speedup, crown->speedup_interval, disturbed);
}

}  // namespace kevo
