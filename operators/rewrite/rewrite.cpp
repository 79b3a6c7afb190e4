#include "operators/rewrite/rewrite.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include <kevo/annotation.hpp>
#include <kevo/score.hpp>

#include "operators/rewrite/action.hpp"
#include "operators/rewrite/choices.hpp"
#include "operators/rewrite/notes.hpp"
#include "operators/rewrite/parser.hpp"

namespace kevo {
namespace {

using namespace rewriting;

struct action_step {
  std::string text;
  std::string summary;
  recorded_choice noted;
};

/// What the policy says of the actions that were not refused yet; all 0 if none is left.
std::vector<double> weights_left(const action_policy& policy, const action_choice& seen,
                                 const std::vector<bool>& refused, std::span<const tried_action> tried) {
  action_choice left{seen.state, {}};
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < refused.size(); ++i) {
    if (refused[i]) continue;
    left.actions.push_back(seen.actions[i]);
    places.push_back(i);
  }
  std::vector<double> weights(refused.size(), 0);
  if (places.empty()) return weights;
  std::vector<double> told;
  if (policy.weights) {
    told = policy.weights(left, tried);
  } else {
    for (const auto& one : left.actions) told.push_back(one.weight);
  }
  for (std::size_t k = 0; k < std::min(told.size(), places.size()); ++k) weights[places[k]] = told[k];
  return weights;
}

/// One action somewhere in the text; nothing if all are refused.
std::optional<action_step> stepped(const kernel& of, const rewrite& how, const program_history& before,
                                   std::span<const tried_action> tried, rng& random) {
  const auto all = choices_of(of, how.only);
  if (all.empty()) return std::nullopt;
  action_choice seen = described(of, all, before);
  std::vector<bool> refused(all.size(), false);
  std::vector<double> weights = weights_left(how.policy, seen, refused, tried);
  while (true) {
    std::size_t at = random.weighted(weights);
    if (at >= all.size()) {  // those that the policy preferred were refused
      weights = weights_left(how.policy, seen, refused, tried);
      at = random.weighted(weights);
      if (at >= all.size()) return std::nullopt;
    }
    try {
      std::string text = all[at].what->apply(of, all[at].where, random);
      if (text != of.in.text)
        return action_step{std::move(text),
                           std::string(all[at].what->name) + " " + place_of(of, all[at].where),
                           {std::move(seen), at}};
    } catch (const refusal&) {  // another one
    }
    refused[at] = true;
    weights[at] = 0;
  }
}

bool is_cpp(const program& source) {
  return source.language == "cpp" || source.language == "c++";
}

dialect dialect_of(const program& source) {
  return source.language == "cuda" ? dialect::cuda : dialect::cpp;
}

/// What is known of the parent.
program_history history_of_parent(const variation_request& request) {
  constexpr std::size_t looked_back = 16;
  std::vector<std::string> taken;
  std::shared_ptr<const evaluation> before;
  const auto line = request.lineage(looked_back);
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (i == 1) before = line[i].evaluation;
    if (line[i].operator_name != "rewrite") continue;
    auto types = actions_in(line[i].summary);
    taken.insert(taken.end(), types.rbegin(), types.rend());
  }
  return history_of(request.parents.front()->evaluation.get(), before.get(), std::move(taken));
}

}  // namespace

/// The features of the places of a program's actions, by program.
struct rewrite::memory {
  struct place {
    std::string action;  ///< as in a summary
    std::vector<double> features;
  };
  std::mutex guard;
  std::map<candidate_id, std::vector<place>> places;
};

std::shared_ptr<rewrite::memory> rewrite::make_memory() {
  return std::make_shared<memory>();
}

std::vector<rewrite_action> rewrite_actions() {
  std::vector<rewrite_action> result;
  for (const action& one : actions()) result.push_back({std::string(one.name), std::string(one.about)});
  return result;
}

void require_rewrite_parser() {
  parser_program();
}

std::vector<std::string> actions_of_summary(std::string_view summary) {
  return actions_in(summary);
}

std::optional<action_choice> choices_in(const choice_request& asked, const std::string& parser) {
  const program& source = *asked.source;
  if (!is_cpp(source) && source.language != "cuda") return std::nullopt;
  const auto in =
      parse(parser.empty() ? parser_program() : parser, {std::string(source.text())}, {}, dialect_of(source))
          .front();
  if (!in) return std::nullopt;
  const kernel of{*in, loops_of(*in), asked.task, asked.threads, source.language == "cuda"};
  return described(of, choices_of(of, asked.only),
                   history_of(asked.result, asked.parent_result, asked.actions));
}

std::vector<tried_action> rewrite::tried_in(const variation_request& request,
                                            const std::string& parser_path) const {
  std::map<candidate_id, const told_result*> latest;
  for (const told_result* one = request.results.get(); one != nullptr; one = one->before.get())
    latest.emplace(one->candidate, one);
  std::vector<tried_action> all;
  const std::scoped_lock lock(remembered_->guard);
  for (const auto& [id, result] : latest) {
    const auto before = latest.find(result->parent);
    const auto types = actions_in(result->summary);
    // Only actions of this operator; a program that several actions made says little of each.
    if (types.empty() || before == latest.end() || before->second->outcome != outcome::valid) continue;
    const auto& known = rewrite_features().types;
    if (std::find(known.begin(), known.end(), types.front()) == known.end()) continue;
    tried_action one{types.front(), {}, 0};
    if (result->outcome == outcome::valid)
      one.reward = std::clamp(relative_gain(result->score, before->second->score), 0.0, 1.0);
    if (policy.reads_features) {
      auto found = remembered_->places.find(result->parent);
      if (found == remembered_->places.end()) {
        found = remembered_->places.emplace(result->parent, std::vector<memory::place>()).first;
        const auto parent = request.program_of(result->parent);
        const auto choice = parent
                                ? choices_in({parent.get(), request.task.get(), threads, only}, parser_path)
                                : std::nullopt;
        for (const auto& action : choice ? choice->actions : std::vector<possible_action>())
          found->second.push_back({action.type + " " + action.region, action.features});
      }
      const std::string first = result->summary.substr(0, result->summary.find(", "));
      for (const auto& place : found->second) {
        if (place.action == first) one.region = place.features;
      }
    }
    all.push_back(std::move(one));
  }
  return all;
}

variation_result rewrite::vary(const variation_request& request, rng& random) const {
  const program& source = *request.parents.front()->program;
  const bool cuda = source.language == "cuda";
  if (!is_cpp(source) && !cuda) return no_proposal{"rewrite changes C++ and CUDA sources only"};
  const dialect spoken = dialect_of(source);
  const std::string path = parser.empty() ? parser_program() : parser;
  const auto parsed = parse(path, {std::string(source.text())}, request.stop, spoken).front();
  if (!parsed) return no_proposal{"the parser could not read the parent"};
  const program_history known_parent = history_of_parent(request);
  const std::vector<tried_action> tried =
      policy.learns ? tried_in(request, path) : std::vector<tried_action>();

  std::size_t known = 0;
  for (std::size_t attempt = 0; attempt < tries && !request.stop.stop_requested(); ++attempt) {
    std::optional<parsed_source> now = parsed;
    program_history before = known_parent;
    std::string summary;
    std::string notes;
    do {
      const kernel of{*now, loops_of(*now), request.task.get(), threads, cuda};
      auto step = stepped(of, *this, before, tried, random);
      if (!step) break;
      auto child = parse(path, {step->text}, request.stop, spoken).front();
      // What the parser does not take, or takes for less than it was, is not proposed.
      if (!child || child->errors > now->errors) break;
      summary += (summary.empty() ? "" : ", ") + step->summary;
      notes += note_of(step->noted);
      before = history_of(nullptr, nullptr, std::move(before.actions));
      before.actions.insert(before.actions.begin(), step->noted.choice.actions[step->noted.chosen].type);
      now = std::move(child);
    } while (random.chance(another_action));
    if (summary.empty()) {
      if (attempt == 0 && known == 0 && loops_of(*parsed).empty())
        return no_proposal{"the parent has no loop that rewrite understands"};
      continue;
    }
    program child = source;
    child.files.front().text = now->text;
    try {
      parse_annotations(child);
    } catch (const error&) {  // a tunable twice, because its line stood in a loop that was copied
      continue;
    }
    if (request.seen(id_of(child))) {
      ++known;
      continue;
    }
    request.note(std::move(notes));
    return proposal{std::move(child), summary};
  }
  return no_proposal{"found no unseen program in " + std::to_string(tries) + " tries"};
}

}  // namespace kevo
