#pragma once
// A selector that follows one line of descent and shows its whole history: AVO (arXiv 2603.24517).

#include <cstddef>

#include <kevo/select/inspirations.hpp>

namespace kevo {

/// AVO's single lineage (arXiv 2603.24517): a candidate becomes the head of the line when it is valid and not
/// worse than the head; the head is always the parent, and the versions before it are the inspirations,
/// newest first. Failed tries never come back. O(history).
class lineage {
 public:
  std::size_t history = 8;  ///< versions that are shown; AVO shows all of its forty
  memory_scope scope = memory_scope::parent_trajectory;

  selection select(const population_view& view, rng&) const {
    selection chosen;
    chosen.scope = scope;
    const bool lost = head_ == no_candidate || !view.row(head_).ranked();  // a head may fail its audit
    chosen.parents = {lost ? view.nth_best(0) : head_};
    candidate_id version = chosen.parents.front();
    for (std::size_t i = 0; i < history; ++i) {
      const auto before = view.parents(version);
      if (before.empty()) break;
      version = before.front();
      chosen.inspirations.push_back(version);
    }
    return chosen;
  }

  void observe(const observation& seen) {
    if (seen.candidate == head_) {  // measured again, or found to fail
      if (!seen.ranked()) head_ = no_candidate;
      score_ = seen.score;
    } else if (seen.ranked() && (head_ == no_candidate || seen.score >= score_)) {
      head_ = seen.candidate;
      score_ = seen.score;
    }
  }

 private:
  candidate_id head_ = no_candidate;
  double score_ = 0;
};

}  // namespace kevo
