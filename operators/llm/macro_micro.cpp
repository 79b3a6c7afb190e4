#include "operators/llm/macro_micro.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <kevo/annotation.hpp>

#include "operators/llm/directed.hpp"
#include "operators/llm/operators.hpp"
#include "operators/llm/sections.hpp"
#include "src/llm/recorded_reply.hpp"

namespace kevo {
namespace {

constexpr std::size_t remembered_jobs = 4096;
constexpr std::size_t most_regions = 8;

/// A line with a number that begins a region, shortened.
std::string place_in_source(std::size_t number, std::string_view line) {
  return fmt::format("line {}: {}", number, line.substr(0, 80));
}

bool begins_loop(std::string_view line) {
  return line.starts_with("for (") || line.starts_with("for(") || line.starts_with("while (") ||
         line.starts_with("for ") || line.starts_with("while ");
}

bool begins_function(std::string_view line) {
  return line.starts_with("def ") || line.starts_with("__global__") ||
         line.starts_with("extern \"C\" __global__");
}

/// The outermost loops of a source, each of which stands for its nest; without loops its functions, as far as
/// their first lines show that they are some. Nests are told by indentation.
std::vector<std::string> nests_of(std::string_view text) {
  std::vector<std::string> loops;
  std::vector<std::string> functions;
  std::size_t number = 1;
  std::size_t open = std::string_view::npos;  // indentation of the loop that what follows is in
  for (std::size_t at = 0; at < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    at = end + 1;
    const std::size_t indentation = line.find_first_not_of(" \t");
    if (indentation == std::string_view::npos || line[indentation] == '#') continue;
    line.remove_prefix(indentation);
    if (open != std::string_view::npos && indentation <= open) open = std::string_view::npos;
    if (begins_function(line) && functions.size() < most_regions)
      functions.push_back(place_in_source(number, line));
    if (open != std::string_view::npos || !begins_loop(line)) continue;
    open = indentation;
    if (loops.size() < most_regions) loops.push_back(place_in_source(number, line));
  }
  return loops.empty() ? functions : loops;
}

/// What a type of step means, for those that are common; else empty.
std::string_view meaning_of(std::string_view type) {
  static constexpr std::pair<std::string_view, std::string_view> meanings[] = {
      {"tiling", "work in blocks whose data stay in registers or in a cache"},
      {"fusion", "join loops or operations, so that what lies between them is not stored"},
      {"reordering", "exchange loops or change the layout of data, so that accesses are contiguous"},
      {"pipelining", "load what comes next while the present data are used"},
      {"vectorization",
       "use the widest vector instructions, by intrinsics or loops that the compiler vectorizes"},
      {"packing", "copy what is used often into contiguous memory in the order of its use"},
      {"unrolling", "repeat the body of a loop, with independent accumulators"}};
  for (const auto& [name, meaning] : meanings) {
    if (name == type) return meaning;
  }
  return {};
}

/// The steps by type, with the places named once: those of most types are the same.
std::string list_of(const std::vector<macro_action>& actions) {
  std::vector<std::string> places;
  std::vector<std::string> types;
  const auto number_in = [](std::vector<std::string>& all, const std::string& one) {
    const auto it = std::find(all.begin(), all.end(), one);
    if (it != all.end()) return it - all.begin() + 1;
    all.push_back(one);
    return static_cast<std::ptrdiff_t>(all.size());
  };
  for (const auto& one : actions) {
    number_in(places, one.region);
    number_in(types, one.type);
  }
  std::string text = "Places:\n";
  for (std::size_t i = 0; i < places.size(); ++i) text += fmt::format("P{} {}\n", i + 1, places[i]);
  text += "\nSteps:\n";
  for (const auto& type : types) {
    const std::string_view meaning = meaning_of(type);
    text += fmt::format("{}{}{}:", type, meaning.empty() ? "" : ", ", meaning);
    for (std::size_t i = 0; i < actions.size(); ++i) {
      if (actions[i].type == type)
        text += fmt::format(" {} at P{};", i + 1, number_in(places, actions[i].region));
    }
    text.back() = '\n';
  }
  return text + fmt::format("stop, no step promises a gain: {}\n", actions.size() + 1);
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
  if (regions.empty()) regions = nests_of(source.text());
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
            auto sections = sections_of(talk.request());
            set_section(sections, "action", "## Steps to choose from\n\n" + fenced(list_of(actions)));
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
  const std::string_view meaning = meaning_of(action.type);
  set_section(sections, "action",
              step_text(action) + (meaning.empty() ? "" : fmt::format("\n({}: {})", action.type, meaning)));
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
