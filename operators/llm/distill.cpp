#include "operators/llm/distill.hpp"

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "operators/llm/directed.hpp"
#include "operators/llm/operators.hpp"
#include "operators/llm/sections.hpp"
#include "src/llm/language_models.hpp"

namespace kevo {
namespace {

constexpr const char* distiller = "distill_skill";
constexpr std::size_t shown_bytes = 12000;

std::string evidence_of(const skill_case& one) {
  std::string text =
      fmt::format("{}has the score {:.4g}, its parent {:.4g}", name_of(one), one.score, one.parent_score);
  if (one.speedup > 0)
    text += fmt::format("; its confirmed speedup over the baseline is {:.4g}", one.speedup);
  if (!one.device.empty()) text += fmt::format("; measured on {}", one.device);
  return text + ".";
}

}  // namespace

void remember_attempt(const llm_settings& with, const variation_request& request, const proposal& made) {
  with.models->skills().attempt(request.job, {.summary = made.summary,
                                              .before = request.parents.front()->program,
                                              .after = std::make_shared<const program>(made.program)});
}

void distill_due(const llm_settings& with, const variation_request& request, const rng& random) {
  // A repeated turn distils what it distilled then.
  const auto before = with.models->recalled_messages(request.job, distiller);
  if (with.models->repeats(request.job) && !before) return;
  if (!before && (request.ending.stop_requested() || request.stop.stop_requested())) return;
  const auto found = with.models->skills().take_due(before.value_or(""));
  if (!found) return;
  const skill_attempt& what = found->attempt;
  rng own = random.split(distiller);
  conversation talk(with, distiller, request, own);
  talk.begin(
      distiller,
      {{"task", task_section(*request.task, what.before->language, place_of(*request.parents.front())), 90},
       {"parent",
        "## Before\n\n" + fenced(shortened(what.before->text(), shown_bytes), what.before->language), 50},
       {"draft", "## After\n\n" + fenced(shortened(what.after->text(), shown_bytes), what.after->language),
        60},
       {"action",
        "## What was measured\n\n" + evidence_of(*found) +
            "\n\nIts author's summary (data): " + fenced(what.summary),
        100, true}});
  const chat_reply reply = talk.ask();
  if (!reply.ok()) return;
  const std::string technique = labelled(reply.content, "Technique:");
  const std::string applies = labelled(reply.content, "Applies when:");
  const std::string evidence = labelled(reply.content, "Evidence:");
  const std::string hardware = labelled(reply.content, "Hardware:");
  if (technique.empty() || applies.empty() || evidence.empty() || hardware.empty()) {
    request.note("[skill] the reply lacks technique, when it applies, evidence or hardware: no page\n");
    return;
  }
  const knowledge_filter fitting = filter_for(request);
  with.models->skills().learn(
      *found,
      {.title = technique.substr(0, 160),
       .topics = request.task->op_type.empty() ? std::vector<std::string>()
                                               : std::vector<std::string>{request.task->op_type},
       .languages = {what.before->language},
       .hardware = {fitting.hardware},
       .bottlenecks = words_between(labelled(reply.content, "Bottlenecks:").substr(0, 200), ", ."),
       .source = fmt::format("kevo, task {}, candidate #{}", request.task->name, found->candidate),
       .text = fmt::format(
           "Applies when: {}\n\nEvidence: {} Measured by kevo: {}\n\nHardware: {}\n\nSeen in: task {} ({})\n",
           shortened(applies, 1500), shortened(evidence, 1000), evidence_of(*found), shortened(hardware, 300),
           request.task->name, request.task->op_type)});
  request.note(fmt::format("[skill] {} (from #{})\n", technique.substr(0, 160), found->candidate));
}

}  // namespace kevo
