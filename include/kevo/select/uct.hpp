#pragma once
// A selector that searches the lineage as a tree, by upper confidence bounds, with repair chains for invalid
// children: UCT (Kocsis & Szepesvari, 2006) as in AIRA-dojo and KernelEvolve.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include <kevo/detail/kinetic_maximum.hpp>
#include <kevo/select/inspirations.hpp>

namespace kevo {

/// Monte-Carlo tree search on the lineage (first parents), as AIRA-dojo does it, the framework that
/// KernelEvolve names (arXiv 2512.23236; UCT of Kocsis & Szepesvari, 2006). From a root above the seeds,
/// descend to the child of greatest
///
///     Q + exploration * sqrt(ln N(parent) / N(child))
///
/// where Q is the mean score in the child's subtree, scaled to [0, 1] by the extremes of all scores, and N
/// counts the visits, those still out included. A node that may widen is the parent instead: one with fewer
/// than `width` children, or than width * N^widening (progressive widening; 0 as AIRA has it). An invalid
/// child starts a repair chain: it is varied itself, at most `repairs` deep, and only what is valid at last
/// is backed up. O(depth * log children) a pick, whatever the width: where children are many, a kinetic
/// tournament finds the greatest bound, for all of them rise with the parent's visits along lines in
/// sqrt(ln N) * (max - min).
class uct {
 public:
  double exploration = 0.25;
  std::size_t width = 5;
  double widening = 0;
  std::size_t repairs =
      20;  ///< maximum length of a repair chain; 0 disables repairs, for operators that cannot repair
  kevo::inspirations inspirations;
  memory_scope scope = memory_scope::parent_trajectory;

  selection select(const population_view& view, rng& random) {
    if (!broken_.empty()) {  // the newest chain first
      const candidate_id next = broken_.back();
      broken_.pop_back();
      return vary_one(next, inspirations, scope, view, random);
    }
    double visits = visits_;
    const std::vector<candidate_id>* choices = &seeds_;
    candidate_id at = no_candidate;
    while (!choices->empty() && (at == no_candidate || !may_widen(at))) {
      at = best_of(at, *choices, visits);
      visits = nodes_[at].visits;
      choices = &nodes_[at].children;
    }
    if (at == no_candidate) at = view.nth_best(0);  // nothing was observed yet
    visit(at);
    return vary_one(at, inspirations, scope, view, random);
  }

  void observe(const observation& seen) {
    const candidate_id id = seen.candidate;
    if (id >= nodes_.size()) nodes_.resize(id + std::size_t{1});
    const bool valid = seen.ranked();
    node& mine = nodes_[id];
    const bool known = mine.observed;
    mine.observed = true;
    if (!known && !seen.parents.empty()) mine.parent = seen.parents.front();
    if (!valid) {
      if (!known && repairs > 0) mine.chain = chain_of(mine.parent) + 1;
      if (!known && mine.chain > 0 && mine.chain <= repairs) broken_.push_back(id);
      return;
    }
    if (known) return;  // measured again: the mean of a subtree hardly moves
    least_ = std::min(least_, seen.score);
    greatest_ = std::max(greatest_, seen.score);
    // A repaired candidate hangs where its chain began, so that the tree holds valid candidates alone.
    while (mine.parent != no_candidate && !in_tree(mine.parent)) {
      mine.parent = nodes_[mine.parent].parent;
    }
    auto& siblings = mine.parent == no_candidate ? seeds_ : nodes_[mine.parent].children;
    mine.place = static_cast<std::uint32_t>(siblings.size());
    siblings.push_back(id);
    if (mine.parent == no_candidate) visit(id);
    mine.visits = std::max(mine.visits, 1.0);
    for (candidate_id up = id; up != no_candidate; up = nodes_[up].parent) {
      nodes_[up].sum += seen.score;
      ++nodes_[up].scores;
      changed(up);
    }
  }

 private:
  struct node {
    std::vector<candidate_id> children;  // valid ones
    double visits = 0;
    double sum = 0;
    double scores = 0;
    candidate_id parent = no_candidate;
    std::uint32_t place = 0;  // among its parent's children
    std::uint32_t chain = 0;  // how many repairs deep; 0 for valid ones
    bool observed = false;
  };

  /// Whether the candidate was valid when it was first evaluated.
  bool in_tree(candidate_id id) const { return nodes_[id].scores > 0; }
  std::uint32_t chain_of(candidate_id id) const { return id == no_candidate ? 0 : nodes_[id].chain; }
  bool may_widen(candidate_id id) const {
    const node& n = nodes_[id];
    return static_cast<double>(n.children.size()) <
           static_cast<double>(width) * std::pow(std::max(n.visits, 1.0), widening);
  }
  /// Scaling is left out: bounds are compared in units of the score, as height + slope * `reach`.
  double height(const node& n) const { return n.scores > 0 ? n.sum / n.scores : least_; }
  static double slope(const node& n) { return 1 / std::sqrt(std::max(n.visits, 1.0)); }
  double reach(double parent_visits) const {
    const double range = greatest_ > least_ ? greatest_ - least_ : 1;
    return exploration * range * std::sqrt(std::log(std::max(parent_visits, 1.0)));
  }
  candidate_id best_of(candidate_id parent, const std::vector<candidate_id>& children, double visits) {
    const double x = reach(visits);
    if (children.size() <= narrow) {
      const auto value = [&](candidate_id id) { return height(nodes_[id]) + slope(nodes_[id]) * x; };
      return *std::max_element(children.begin(), children.end(),
                               [&](candidate_id a, candidate_id b) { return value(a) < value(b); });
    }
    detail::kinetic_maximum& bounds = wide_[parent];
    while (bounds.size() < children.size()) {
      const node& n = nodes_[children[bounds.size()]];
      bounds.push_back(height(n), slope(n));
    }
    return children[bounds.best(x)];
  }
  void changed(candidate_id id) {
    if (wide_.empty()) return;
    const node& n = nodes_[id];
    const auto it = wide_.find(n.parent);
    if (it != wide_.end() && n.place < it->second.size()) it->second.set(n.place, height(n), slope(n));
  }
  void visit(candidate_id id) {
    ++visits_;
    if (id >= nodes_.size()) nodes_.resize(id + std::size_t{1});
    for (; id != no_candidate; id = nodes_[id].parent) {
      ++nodes_[id].visits;
      changed(id);
    }
  }

  static constexpr std::size_t narrow = 32;

  std::vector<node> nodes_;                                         // by candidate
  std::unordered_map<candidate_id, detail::kinetic_maximum> wide_;  // of parents of many children
  std::vector<candidate_id> seeds_;
  std::vector<candidate_id> broken_;
  double visits_ = 0;
  double least_ = INFINITY;  // of all scores
  double greatest_ = -INFINITY;
};

}  // namespace kevo
