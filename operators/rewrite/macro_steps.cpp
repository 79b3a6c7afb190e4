#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include <kevo/operators/macro_steps.hpp>
#include <kevo/operators/rewrite.hpp>

#include "operators/llm/conversation.hpp"

namespace kevo {
namespace {

/// The steps that led to the parent, the latest first, whether `rewrite` or a model took them.
std::vector<std::string> steps_before(const std::vector<candidate_snapshot>& line) {
  std::vector<std::string> steps;
  for (const auto& one : line) {
    if (one.operator_name == "macro_micro") steps.push_back(one.summary.substr(0, one.summary.find(':')));
    if (one.operator_name != "rewrite") continue;
    const auto types = actions_of_summary(one.summary);
    steps.insert(steps.end(), types.rbegin(), types.rend());
  }
  return steps;
}

std::optional<action_choice> possible_steps(const variation_request& request, int threads,
                                            const std::string& parser) {
  constexpr std::size_t looked_back = 16;
  const auto line = request.lineage(looked_back);
  const auto& parent = *request.parents.front();
  choice_request asked{parent.program.get(), request.task.get(), threads};
  asked.result = parent.evaluation.get();
  asked.parent_result = line.size() > 1 ? line[1].evaluation.get() : nullptr;
  asked.actions = steps_before(line);
  return choices_in(asked, parser);
}

/// What was possible in the turns whose action is to be picked next, by job.
struct open_choices {
  std::mutex guard;
  std::map<std::uint64_t, action_choice> of_job;
};

}  // namespace

macro_policy rewrite_steps(action_policy policy, int threads, std::string parser) {
  std::map<std::string, std::string> about;
  for (const auto& one : rewrite_actions()) about.emplace(one.name, one.about);
  const auto open = std::make_shared<open_choices>();
  macro_policy result;
  result.name = policy.name;
  result.actions = [open, threads, parser = std::move(parser),
                    about = std::move(about)](const variation_request& request) {
    std::vector<macro_action> actions;
    auto possible = possible_steps(request, threads, parser);
    if (!possible) return actions;
    for (const auto& one : possible->actions)
      actions.push_back({one.type, one.region + " (" + about.at(one.type) + ")"});
    const std::scoped_lock lock(open->guard);
    open->of_job.insert_or_assign(request.job, std::move(*possible));
    return actions;
  };
  result.pick = [open, policy = std::move(policy)](const std::vector<macro_action>&, conversation& talk,
                                                   rng& random) {
    action_choice choice;
    {
      const std::scoped_lock lock(open->guard);
      choice = std::move(open->of_job.extract(talk.request().job).mapped());
    }
    const auto weights = policy.weights(choice, {});
    return random.weighted(weights);  // the number of actions if all weights are 0: no step
  };
  return result;
}

}  // namespace kevo
