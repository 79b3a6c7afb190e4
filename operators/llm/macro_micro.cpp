#include "operators/llm/macro_micro.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include <kevo/annotation.hpp>

#include "operators/llm/directed.hpp"
#include "operators/llm/operators.hpp"
#include "operators/llm/sections.hpp"
#include "src/llm/recorded_reply.hpp"

namespace kevo {
namespace {

constexpr std::size_t remembered_jobs = 4096;
constexpr std::size_t most_loops = 12;

std::vector<std::string> loops_of(std::string_view text) {
  std::vector<std::string> regions;
  std::size_t number = 1;
  for (std::size_t at = 0; at < text.size() && regions.size() < most_loops; ++number) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    at = end + 1;
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (line.starts_with("for (") || line.starts_with("for(") || line.starts_with("while (") ||
        line.starts_with("for "))
      regions.push_back(fmt::format("line {}: {}", number, line.substr(0, 80)));
  }
  return regions;
}

std::string step_text(const macro_action& action) {
  return fmt::format("Step: {} of {}", action.type, action.region);
}

/// The action that a recorded prompt of this turn names; nothing if the turn is new.
std::optional<std::size_t> recalled_action(const std::vector<macro_action>& actions,
                                           const language_models& models, const std::string& operator_name,
                                           std::uint64_t job) {
  const auto messages = models.recalled_messages(job, operator_name);
  std::optional<std::size_t> found;
  for (std::size_t i = 0; messages && i < actions.size(); ++i) {
    const std::string as_sent = messages_json({{"user", step_text(actions[i]) + "\n"}});
    const auto begin = as_sent.find("Step: ");
    const auto end = as_sent.rfind("\"}");
    const bool named = messages->find(as_sent.substr(begin, end - begin)) != std::string::npos;
    if (named) found = i;
  }
  return found;
}

}  // namespace

std::vector<macro_action> actions_of(const program& source, const std::vector<std::string>& types) {
  std::vector<std::string> regions;
  try {
    for (const auto& region : parse_annotations(source).regions) regions.push_back("region " + region.name);
  } catch (const error&) {  // wrong annotations: the loops have to do
  }
  if (regions.empty()) regions = loops_of(source.text());
  if (regions.empty()) regions.emplace_back("the whole file");
  std::vector<macro_action> all;
  for (const auto& type : types) {
    for (const auto& region : regions) all.push_back({type, region});
  }
  return all;
}

macro_policy uniform_policy() {
  return {"uniform",
          [](const auto& actions, conversation&, rng& random) { return random.below(actions.size()); },
          {}};
}

macro_policy ucb_policy(double exploration) {
  struct arm {
    double pulls = 0;
    double reward = 0;
  };
  struct table {
    std::mutex guard;
    std::map<std::string, arm> arms;
  };
  const auto shared = std::make_shared<table>();
  return {"ucb",
          [shared, exploration](const std::vector<macro_action>& actions, conversation&, rng& random) {
            const std::scoped_lock lock(shared->guard);
            double total = 0;
            for (const auto& [type, arm] : shared->arms) total += arm.pulls;
            double best = -1;
            std::vector<std::size_t> good;
            for (std::size_t i = 0; i < actions.size(); ++i) {
              const arm& a = shared->arms[actions[i].type];
              const double value =
                  a.pulls > 0 ? a.reward / a.pulls + exploration * std::sqrt(std::log(total + 1) / a.pulls)
                              : 1e9;
              if (value > best) {
                best = value;
                good.clear();
              }
              if (value == best) good.push_back(i);
            }
            const std::size_t chosen = good[random.below(good.size())];
            shared->arms[actions[chosen].type].pulls += 1;
            return chosen;
          },
          [shared](const macro_action& action, double reward) {
            const std::scoped_lock lock(shared->guard);
            shared->arms[action.type].reward += reward;
          },
          [shared](const macro_action& action) {
            const std::scoped_lock lock(shared->guard);
            shared->arms[action.type].pulls += 1;
          }};
}

macro_policy model_policy() {
  return {"model",
          [](const std::vector<macro_action>& actions, conversation& talk, rng&) {
            std::string list;
            for (std::size_t i = 0; i < actions.size(); ++i)
              list += fmt::format("{}. {} of {}\n", i + 1, actions[i].type, actions[i].region);
            list += fmt::format("{}. stop: no step promises a gain\n", actions.size() + 1);
            auto sections = sections_of(talk.request());
            set_section(sections, "action", "## Steps to choose from\n\n" + fenced(list));
            talk.begin("macro_micro_choose", std::move(sections));
            const chat_reply reply = talk.ask();
            const std::string number = reply.ok() ? labelled(reply.content, "Step:") : std::string();
            std::size_t chosen = 0;
            const auto [end, failure] = std::from_chars(number.data(), number.data() + number.size(), chosen);
            if (failure != std::errc() || chosen < 1 || chosen > actions.size() + 1) return actions.size();
            return chosen > actions.size() ? macro_stop : chosen - 1;
          },
          {}};
}

variation_result macro_micro::vary(const variation_request& asked, rng& random) const {
  const variation_request request = with_scope(with_, asked, random);
  const program& source = *request.parents.front()->program;
  const auto actions = state_->policy.actions ? state_->policy.actions(request) : actions_of(source, types_);
  if (actions.empty()) return no_proposal{"the policy knows no step for this program"};
  conversation talk(with_, name(), request, random);
  rng own = random.split("macro");  // what follows draws the same, whether or not the policy draws
  const auto before = state_->policy.recall ? recalled_action(actions, *with_.models, name(), request.job)
                                            : std::optional<std::size_t>();
  const std::size_t index = before ? *before : state_->policy.pick(actions, talk, own);
  if (before) state_->policy.recall(actions[index]);
  if (index == macro_stop) {
    request.note("[macro] stop\n");
    return no_proposal{"the policy chose to stop", true};
  }
  if (index >= actions.size())
    return talk.failure() ? failure_of(*talk.failure()) : no_proposal{"the policy chose no step"};
  const macro_action& action = actions[index];
  {
    const std::scoped_lock lock(state_->guard);
    state_->picked[request.job] = action;
    while (state_->picked.size() > remembered_jobs) state_->picked.erase(state_->picked.begin());
  }
  request.note(fmt::format("[macro] {} of {}\n", action.type, action.region));
  auto sections = sections_of(request);
  add_memory(sections, with_, request, random, action.type);
  if (const auto& knowledge = with_.models->knowledge())
    set_section(sections, "example", examples_text(knowledge->examples(action.type, filter_for(request))));
  set_section(sections, "action", step_text(action));
  talk.begin(name(), std::move(sections));
  const auto read = [&source](const std::string& reply) {
    draft edited = edits_of(source)(reply);
    if (edited.made || reply.find("<<<<<<<") != std::string::npos) return edited;
    return whole_file(source)(reply);
  };
  return propose(talk, read, action.type + ": ");
}

void macro_micro::observe(const observation& seen) const {
  with_.models->observe(seen);
  if (seen.job == 0) return;
  macro_action action;
  {
    const std::scoped_lock lock(state_->guard);
    const auto it = state_->picked.find(seen.job);
    if (it == state_->picked.end()) return;
    action = it->second;
    state_->picked.erase(it);
  }
  if (state_->policy.learn) state_->policy.learn(action, seen.gain());
}

}  // namespace kevo
