#include "src/learn/record_tree.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include <kevo/annotation.hpp>
#include <kevo/load_task.hpp>
#include <kevo/operators/rewrite.hpp>

#include "operators/tune/learnt.hpp"
#include "src/journal/journal.hpp"

namespace kevo {
namespace {

/// A program without the values of its tunables.
content_id shape_of(const program& source) {
  try {
    const setting_space space(parse_annotations(source));
    return space.tunables().empty() ? id_of(source) : skeleton_of(source, space);
  } catch (const error&) {  // its annotations are wrong
    return id_of(source);
  }
}

/// Puts the runs of several tasks together.
class tree_reader {
 public:
  void read(const journal& run) {
    run_ = &run;
    candidates_.clear();
    task_ = place_of_task(run.header());
    std::vector<variation_told> variations;
    std::unordered_map<ticket, candidate_id> parents;
    std::vector<std::pair<candidate_id, content_id>> born;
    std::vector<std::pair<candidate_id, std::shared_ptr<const evaluation>>> results;
    std::unordered_map<ticket, std::string> operators;
    run.for_each_event([&](const event& e) {
      if (const auto* seed = std::get_if<seeded>(&e.payload))
        born.emplace_back(seed->candidate, seed->program);
      if (const auto* asked = std::get_if<variation_asked>(&e.payload)) {
        if (!asked->selection.parents.empty()) parents[asked->job] = asked->selection.parents.front();
        operators[asked->job] = run.operator_name(asked->op);
      }
      if (const auto* told = std::get_if<variation_told>(&e.payload); told != nullptr && told->program) {
        if (!told->duplicate) born.emplace_back(told->candidate, *told->program);
        variations.push_back(*told);
      }
      if (const auto* told = std::get_if<evaluation_told>(&e.payload))
        results.emplace_back(told->candidate, told->result);
    });
    for (const auto& [candidate, id] : born) place(candidate, id);
    for (const auto& [candidate, result] : results) judge(candidate, *result);
    for (const auto& told : variations) {
      const auto parent = parents.find(told.job);
      if (parent == parents.end()) continue;
      made_by_[told.candidate] = {parent->second, operators[told.job], told.summary};
    }
    for (const auto& told : variations) {
      const auto parent = parents.find(told.job);
      if (parent != parents.end() && operators[told.job] == "rewrite") connect(parent->second, told);
    }
  }
  macro_tree take() && {
    tree_.features = rewrite_features();
    return std::move(tree_);
  }

 private:
  struct recorded {
    std::size_t node = 0;
    std::shared_ptr<const program> source;
    std::shared_ptr<const evaluation> result;
  };
  struct origin {
    candidate_id parent = no_candidate;
    std::string operator_name;
    std::string summary;
  };

  std::size_t place_of_task(const journal_header& header) {
    loaded_task_ = nullptr;
    made_by_.clear();
    std::string name = header.task_id;
    try {
      if (!header.task_path.empty()) {
        loaded_task_ = std::make_shared<const task>(load_task(header.task_path));
        name = loaded_task_->name;
      }
    } catch (const error&) {  // the file is gone: features of the task are too
      name = header.task_path;
    }
    const auto found = std::find(ids_.begin(), ids_.end(), header.task_id);
    if (found != ids_.end()) return static_cast<std::size_t>(found - ids_.begin());
    ids_.push_back(header.task_id);
    tree_.tasks.push_back(name);
    return ids_.size() - 1;
  }

  void place(candidate_id candidate, const content_id& id) {
    auto source = run_->source(id);
    if (!source)
      throw error(error_code::input, "the journal lacks the source of a candidate",
                  {run_->directory() + "/journal.sqlite"}, "copy the run again");
    const auto [found, fresh] = index_.emplace(std::pair(task_, shape_of(*source)), tree_.nodes.size());
    if (fresh) {
      tree_.nodes.emplace_back();
      tree_.nodes.back().task = task_;
    }
    if (tree_.roots.size() <= task_) tree_.roots.push_back(found->second);
    candidates_[candidate] = {found->second, std::move(source), nullptr};
  }

  void judge(candidate_id candidate, const evaluation& result) {
    recorded& one = candidates_.at(candidate);
    one.result = std::make_shared<const evaluation>(result);
    tree_node& node = tree_.nodes[one.node];
    const bool valid = result.valid() && result.score > 0;
    if (valid && (!node.valid() || std::log(result.score) > node.log_score)) {
      node.outcome = outcome::valid;
      node.log_score = std::log(result.score);
    } else if (!node.valid()) {
      node.outcome = result.valid() ? outcome::incorrect : result.outcome;
    }
  }

  void connect(candidate_id parent, const variation_told& told) {
    const auto from = candidates_.find(parent), to = candidates_.find(told.candidate);
    if (from == candidates_.end() || to == candidates_.end() || from->second.node == to->second.node) return;
    if (!tree_.nodes[to->second.node].outcome) return;
    tree_node& node = tree_.nodes[from->second.node];
    if (node.choice.actions.empty()) {
      const auto noted = recorded_choices(told.transcript);
      if (!noted.empty()) {
        node.choice = noted.front().choice;
      } else if (auto found = asked_again(parent)) {
        node.choice = *std::move(found);
      }
    }
    const std::string first = told.summary.substr(0, told.summary.find(", "));
    for (std::size_t i = 0; i < node.choice.actions.size(); ++i) {
      const possible_action& one = node.choice.actions[i];
      if (one.type + " " + one.region != first) continue;
      auto& children = node.children[i];
      if (std::find(children.begin(), children.end(), to->second.node) != children.end()) return;
      children.push_back(to->second.node);
      ++tree_.edges;
      return;
    }
    ++tree_.unknown;
  }

  std::optional<action_choice> asked_again(candidate_id candidate) {
    const recorded& one = candidates_.at(candidate);
    choice_request asked{one.source.get(), loaded_task_.get()};
    asked.result = one.result.get();
    for (candidate_id at = candidate; made_by_.contains(at) && asked.actions.size() < 16;) {
      const origin& came = made_by_.at(at);
      if (at == candidate && candidates_.contains(came.parent))
        asked.parent_result = candidates_.at(came.parent).result.get();
      if (came.operator_name == "rewrite") {
        const auto types = actions_of_summary(came.summary);
        asked.actions.insert(asked.actions.end(), types.rbegin(), types.rend());
      }
      if (came.parent >= at) break;
      at = came.parent;
    }
    return choices_in(asked);
  }

  macro_tree tree_;
  std::vector<std::string> ids_;  ///< of the tasks
  std::map<std::pair<std::size_t, content_id>, std::size_t> index_;
  // of the present run
  const journal* run_ = nullptr;
  std::size_t task_ = 0;
  std::shared_ptr<const task> loaded_task_;
  std::unordered_map<candidate_id, recorded> candidates_;
  std::unordered_map<candidate_id, origin> made_by_;
};

}  // namespace

macro_tree tree_of_runs(const std::vector<std::string>& folders, const error_place& named) {
  tree_reader all;
  for (const auto& folder : folders) {
    if (!journal::exists(folder))
      throw error(error_code::input, fmt::format("there is no run in '{}'", folder), named,
                  "name the folder of a run, which contains journal.sqlite");
    all.read(journal::open_read_only(folder));
  }
  macro_tree tree = std::move(all).take();
  if (tree.edges == 0)
    throw error(error_code::input, "no candidate of these runs was proposed by rewrite and evaluated", named,
                "name runs whose config has vary: {operators: [{type: rewrite}]}");
  return tree;
}

}  // namespace kevo
