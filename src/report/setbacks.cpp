#include "src/report/setbacks.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "operators/llm/model_failure.hpp"
#include "src/base/text/format.hpp"

namespace kevo {
namespace {

constexpr std::uint64_t enough_turns = 3;
constexpr std::size_t most_seeds = 3;
constexpr std::size_t most_bytes = 300;  // of a reason

std::string reason(const std::string& text) {
  const std::string line = format::one_line(text.substr(0, text.find('\n')));
  std::size_t end = 0;
  while (end < std::min(line.size(), most_bytes)) format::next_code_point(line, end);
  return end < line.size() ? line.substr(0, end) + "..." : line;
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

}  // namespace kevo
