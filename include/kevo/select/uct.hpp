#pragma once
// A selector that searches the lineage as a tree, by upper confidence bounds, and repairs invalid children:
// UCT (Kocsis & Szepesvari, 2006) as in AIRA-dojo and KernelEvolve.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include <kevo/detail/kinetic_maximum.hpp>
#include <kevo/detail/latest_scores.hpp>
#include <kevo/select/inspirations.hpp>

namespace kevo {

/// Monte-Carlo tree search on the lineage (first parents) as in AIRA-dojo, the framework that KernelEvolve
/// names (arXiv 2512.23236; UCT of Kocsis & Szepesvari, 2006). The search starts at a root above the seeds
/// and descends to the child with the greatest
///
///     Q + exploration * sqrt(ln N(parent) / N(child))
///
/// Q is the mean score in the subtree of the child, scaled to [0, 1] by the extremes of all scores. N is the
/// number of visits, including those whose results are not known yet. The descent ends at the first node that
/// may widen, and this node is the parent. A node may widen if it was varied fewer than width * N^widening
/// times (progressive widening); with widening = 0, as in AIRA, fewer than `width` times. All turns
/// count, whether they led to a valid child or not.
///
/// An invalid child starts a repair chain: it is itself varied, by operators that repair, and so are its
/// invalid descendants, up to a depth of `repairs`. Only a valid candidate enters the tree, where its score
/// counts for all subtrees that contain it. If a score changes, or if a candidate fails later, its old score
/// is removed from these subtrees and from the extremes. The search descends to a subtree without a valid
/// candidate only if there is no other.
///
/// Before all else, the seeds are varied in `drafts` turns, one seed after the other: first programs that
/// know nothing of each other (scope clean_slate, no inspirations), as the first nodes of KernelEvolve's
/// search. In the tree they are children of their seed, and these turns count as turns of the seed.
///
/// A pick costs O(depth * log children), whatever the width. If a node has many children, a kinetic
/// tournament finds the greatest bound: as functions of sqrt(ln N(parent)) * (max - min), where min and max
/// are the extremes of all scores, the bounds are straight lines.
class uct {
 public:
  double exploration = 0.25;  ///< weight of the second term of the bound
  std::size_t width = 5;  ///< number of turns in which a node is varied before the search descends below it
  double widening = 0;    ///< exponent of progressive widening; 0 keeps the width fixed
  /// Maximum length of a repair chain; 0 disables repairs, for operators that cannot repair.
  std::size_t repairs = 20;
  std::size_t drafts = 0;  ///< number of independent turns on the seeds that come first; 0 disables them
  kevo::inspirations inspirations;                       ///< which further candidates an operator is shown
  memory_scope scope = memory_scope::parent_trajectory;  ///< which earlier candidates an operator is shown

  selection select(const population_view& view, rng& random) {
    if (drafted_ < drafts && !roots_.empty()) {
      const candidate_id seed = roots_[drafted_ % roots_.size()].id;
      ++drafted_;
      visit(seed);
      ++nodes_[seed].attempts;
      return {.parents = {seed}, .scope = memory_scope::clean_slate};
    }
    if (!broken_.empty()) {  // repair chains come first, the newest of them before the others
      const candidate_id next = broken_.back();
      broken_.pop_back();
      return vary_one(next, inspirations, scope, view, random);
    }
    double visits = visits_;
    const std::vector<branch>* choices = &roots_;
    candidate_id at = no_candidate;
    while (!choices->empty() && (at == no_candidate || !may_widen(at))) {
      at = best_of(at, *choices, visits);
      visits = nodes_[at].visits;
      choices = &nodes_[at].children;
    }
    if (at == no_candidate) at = view.nth_best(0);  // nothing was observed yet
    visit(at);
    ++nodes_[at].attempts;
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
    const std::optional<double> before = scores_.of(id);
    scores_.set(id, valid ? std::optional(seen.score) : std::nullopt);
    if (valid) {
      if (!mine.placed) place(id);
      back_up(id, seen.score - before.value_or(0), before ? 0 : 1);
    } else if (before) {
      back_up(id, -*before, -1);
    } else if (!known && repairs > 0) {
      mine.chain = chain_of(mine.parent) + 1;
      if (mine.chain <= repairs) broken_.push_back(id);
    }
  }

 private:
  // A child with its bound, height + slope * `reach`. The bounds of all children of a node lie side by side,
  // because a descent through a large tree takes the time of its cache misses.
  struct branch {
    double height = 0;
    double slope = 0;
    candidate_id id = no_candidate;
  };
  struct alignas(64) node {        // one cache line
    std::vector<branch> children;  // those in the tree: valid at least once
    double sum = 0;                // of the scores in its subtree
    std::uint32_t scores = 0;      // number of the scores in `sum`
    std::uint32_t visits = 0;
    std::uint32_t attempts = 0;  // how often it was varied
    candidate_id parent = no_candidate;
    std::uint32_t place = 0;  // index among its parent's children
    std::uint32_t chain = 0;  // depth in its repair chain; 0 in the tree
    bool observed = false;
    bool placed = false;  // whether it is in the tree
  };

  std::uint32_t chain_of(candidate_id id) const { return id == no_candidate ? 0 : nodes_[id].chain; }
  /// Adds a valid candidate to the tree. A repaired one becomes a child of the node at which its repair chain
  /// began, so that the tree holds only candidates that were valid at least once.
  void place(candidate_id id) {
    node& mine = nodes_[id];
    mine.placed = true;
    mine.chain = 0;
    while (mine.parent != no_candidate && !nodes_[mine.parent].placed) {
      mine.parent = nodes_[mine.parent].parent;
    }
    auto& siblings = mine.parent == no_candidate ? roots_ : nodes_[mine.parent].children;
    mine.place = static_cast<std::uint32_t>(siblings.size());
    siblings.push_back({height(mine), slope(mine), id});
    if (mine.parent == no_candidate) visit(id);
    mine.visits = std::max(mine.visits, 1U);
  }
  /// Adds to the sums of all subtrees that contain a candidate; `count` is the change of the number of
  /// scores.
  void back_up(candidate_id id, double score, int count) {
    for (; id != no_candidate; id = nodes_[id].parent) {
      node& n = nodes_[id];
      n.sum += score;
      n.scores += static_cast<std::uint32_t>(count);
      if (branch* const mine = branch_of(n)) {
        mine->height = height(n);
        changed(n, *mine);
      }
    }
  }
  bool may_widen(candidate_id id) const {
    const node& n = nodes_[id];
    const double wider = widening == 0 ? 1 : std::pow(std::max(n.visits, 1U), widening);
    return n.attempts < static_cast<double>(width) * wider;
  }
  /// The scaling of Q is omitted: bounds are compared in units of the score, as height + slope * `reach`.
  static double height(const node& n) { return n.scores > 0 ? n.sum / n.scores : hopeless; }
  static double slope(const node& n) { return 1 / std::sqrt(std::max(n.visits, 1U)); }
  double reach(double parent_visits) const {
    const double spread = scores_.empty() ? 0 : scores_.greatest() - scores_.least();
    const double range = spread > 0 ? spread : 1;
    return exploration * range * std::sqrt(std::log(std::max(parent_visits, 1.0)));
  }
  candidate_id best_of(candidate_id parent, const std::vector<branch>& children, double visits) {
    const double x = reach(visits);
    if (children.size() <= narrow) {
      const auto value = [x](const branch& one) { return one.height + one.slope * x; };
      return std::max_element(children.begin(), children.end(),
                              [&](const branch& a, const branch& b) { return value(a) < value(b); })
          ->id;
    }
    detail::kinetic_maximum& bounds = wide_[parent];
    while (bounds.size() < children.size()) {
      const branch& one = children[bounds.size()];
      bounds.push_back(one.height, one.slope);
    }
    return children[bounds.best(x)].id;
  }
  /// The bound of a node in the list of its parent; null while it is not in the tree.
  branch* branch_of(const node& n) {
    if (!n.placed) return nullptr;
    return &(n.parent == no_candidate ? roots_ : nodes_[n.parent].children)[n.place];
  }
  /// Tells the tournament among many siblings that a bound has changed.
  void changed(const node& n, const branch& now) {
    if (wide_.empty()) return;
    const auto it = wide_.find(n.parent);
    if (it != wide_.end() && n.place < it->second.size()) it->second.set(n.place, now.height, now.slope);
  }
  void visit(candidate_id id) {
    ++visits_;
    if (id >= nodes_.size()) nodes_.resize(id + std::size_t{1});
    for (; id != no_candidate; id = nodes_[id].parent) {
      node& n = nodes_[id];
      ++n.visits;
      if (branch* const mine = branch_of(n)) {
        mine->slope = slope(n);
        changed(n, *mine);
      }
    }
  }

  static constexpr std::size_t narrow = 32;   // up to so many children the bounds are compared one by one
  static constexpr double hopeless = -1e300;  // below every bound of a subtree that has a score

  std::vector<node> nodes_;                                         // by candidate
  std::unordered_map<candidate_id, detail::kinetic_maximum> wide_;  // by parent, if it has many children
  std::vector<branch> roots_;                                       // the seeds
  std::vector<candidate_id> broken_;  // invalid candidates to be repaired, newest last
  std::size_t drafted_ = 0;           // how many of `drafts` were asked for
  double visits_ = 0;
  detail::latest_scores scores_;
};

}  // namespace kevo
