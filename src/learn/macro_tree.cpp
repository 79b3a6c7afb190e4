#include "src/learn/macro_tree.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "operators/policy/learnt_policy.hpp"

namespace kevo {
namespace {

/// Where a recorded action leads: one of its programs.
std::size_t child_of(const tree_node& node, std::size_t action, rng& random) {
  const auto& all = node.children.at(action);
  return all[random.below(all.size())];
}

action_choice choice_among(const tree_node& node, const std::vector<std::size_t>& actions) {
  action_choice made{node.choice.state, {}};
  for (const std::size_t one : actions) made.actions.push_back(node.choice.actions[one]);
  return made;
}

std::size_t drawn(const std::vector<double>& weights, std::size_t count, rng& random) {
  const std::size_t at = random.weighted(weights);
  return at < count ? at : random.below(count);
}

}  // namespace

double reward_of(const tree_node& from, const tree_node& to, const stage_rewards& how) {
  return stage_reward(to.outcome.value_or(kevo::outcome::build_failed), to.log_score - from.log_score, how);
}

tree_world::tree_world(const macro_tree& tree, const std::vector<std::size_t>& tasks, stage_rewards rewards,
                       std::size_t horizon)
    : tree_(&tree), rewards_(rewards), horizon_(horizon) {
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    const tree_node& node = tree.nodes[i];
    if (!node.valid() || node.children.empty()) continue;
    if (std::find(tasks.begin(), tasks.end(), node.task) == tasks.end()) continue;
    starts_.push_back(i);
    if (tree.roots[node.task] == i) roots_.push_back(i);
  }
}

void tree_world::begin(rng& random) {
  const auto& from = !roots_.empty() && random.chance(0.5) ? roots_ : starts_;
  at_ = from[random.below(from.size())];
  step_ = 0;
  scale_ = 1;
  taken_.clear();
}

std::vector<std::size_t> tree_world::open() const {
  std::vector<std::size_t> actions;
  const auto taken = taken_.find(at_);
  for (const auto& [action, children] : tree_->nodes[at_].children) {
    if (taken == taken_.end() ||
        std::find(taken->second.begin(), taken->second.end(), action) == taken->second.end())
      actions.push_back(action);
  }
  return actions;
}

action_choice tree_world::open_choice() const {
  return choice_among(tree_->nodes[at_], open());
}

std::shared_ptr<const action_decision> tree_world::decision() {
  if (step_ >= horizon_) return nullptr;
  const action_choice choice = open_choice();
  if (choice.actions.empty()) return nullptr;
  return std::make_shared<const action_decision>(decision_of(choice, tree_->features, tree_->features));
}

double tree_world::act(std::size_t action, rng& random) {
  const std::size_t taken = open().at(action);
  taken_[at_].push_back(taken);
  const tree_node& from = tree_->nodes[at_];
  const std::size_t next = child_of(from, taken, random);
  const double reward = scale_ * reward_of(from, tree_->nodes[next], rewards_);
  if (tree_->nodes[next].valid()) at_ = next;
  ++step_;
  scale_ *= rewards_.decay;
  return reward;
}

double mean_return(tree_world world, const action_policy& policy, std::size_t episodes, std::uint64_t seed) {
  double sum = 0;
  for (std::size_t i = 0; i < episodes && !world.empty(); ++i) {
    rng random = rng(seed).split(i);
    world.begin(random);
    while (world.decision()) {
      const action_choice choice = world.open_choice();
      sum += world.act(drawn(policy.weights(choice, {}), choice.actions.size(), random), random);
    }
  }
  return sum / static_cast<double>(std::max<std::size_t>(1, episodes));
}

std::vector<double> search_tree(const macro_tree& tree, std::size_t task, const action_policy& policy,
                                std::uint64_t seed) {
  rng random = rng(seed).split("search");
  std::vector<std::size_t> found = {tree.roots[task]};  // valid programs, the best first
  std::set<std::size_t> known = {tree.roots[task]};
  std::map<std::size_t, std::vector<std::size_t>> left;
  std::vector<tried_action> tried;
  std::vector<double> curve = {tree.nodes[found.front()].log_score};
  const auto open = [&](std::size_t at) {
    for (const auto& [action, children] : tree.nodes[at].children) left[at].push_back(action);
  };
  open(found.front());
  while (true) {
    std::vector<std::size_t> parents;
    for (const std::size_t one : found) {
      if (!left[one].empty()) parents.push_back(one);
    }
    if (parents.empty()) return curve;
    std::vector<double> ranks;
    for (std::size_t i = 0; i < parents.size(); ++i)
      ranks.push_back(std::pow(1.0 + static_cast<double>(i), -2.0));
    const std::size_t parent = parents[drawn(ranks, parents.size(), random)];
    const tree_node& from = tree.nodes[parent];
    auto& actions = left[parent];
    const action_choice choice = choice_among(from, actions);
    const std::size_t at = drawn(policy.weights(choice, tried), actions.size(), random);
    const std::size_t child = child_of(from, actions[at], random);
    actions.erase(actions.begin() + static_cast<std::ptrdiff_t>(at));
    if (!known.insert(child).second) continue;  // proposed again, not evaluated again
    const tree_node& to = tree.nodes[child];
    tried.push_back({choice.actions[at].type, choice.actions[at].features,
                     to.valid() ? std::clamp(std::exp(to.log_score - from.log_score) - 1, 0.0, 1.0) : 0});
    curve.push_back(to.valid() ? std::max(curve.back(), to.log_score) : curve.back());
    if (!to.valid()) continue;
    open(child);
    const auto place = std::find_if(found.begin(), found.end(), [&](std::size_t one) {
      return tree.nodes[one].log_score < to.log_score;
    });
    found.insert(place, child);
  }
}

double best_of_task(const macro_tree& tree, std::size_t task) {
  std::set<std::size_t> reached = {tree.roots[task]};
  std::vector<std::size_t> waiting = {tree.roots[task]};
  double best = tree.nodes[waiting.front()].log_score;
  while (!waiting.empty()) {
    const tree_node& node = tree.nodes[waiting.back()];
    waiting.pop_back();
    best = std::max(best, node.log_score);
    for (const auto& [action, children] : node.children) {
      for (const std::size_t one : children) {
        if (tree.nodes[one].valid() && reached.insert(one).second) waiting.push_back(one);
      }
    }
  }
  return best;
}

std::optional<double> evaluations_needed(const std::vector<double>& curve, double best, double share) {
  if (curve.empty() || !(best > curve.front() + 1e-9)) return std::nullopt;
  const double wanted = curve.front() + share * (best - curve.front());
  for (std::size_t i = 0; i < curve.size(); ++i) {
    if (curve[i] >= wanted - 1e-12) return static_cast<double>(i);
  }
  return static_cast<double>(curve.size());
}

}  // namespace kevo
