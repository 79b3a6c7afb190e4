#pragma once
// A selector that follows a single line of descent and shows its history: AVO (arXiv 2603.24517).

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>

#include <kevo/detail/latest_scores.hpp>
#include <kevo/select/inspirations.hpp>

namespace kevo {

/// AVO's single lineage (arXiv 2603.24517). A candidate becomes the head of the line if it is valid and its
/// score is neither below the score of the head nor below the best confirmed score. The head is always the
/// parent, and its ancestors (by first parents) are the inspirations, newest first. Candidates that did not
/// become the head are not shown. If the head fails a confirmation, or falls below the best confirmed score
/// when it is measured again, the best remaining candidate becomes the head: the best confirmed one or, if
/// none is confirmed, the one with the best score. A pick costs O(history), an observation amortized O(log
/// n).
class lineage {
 public:
  std::size_t history = 8;  ///< maximum number of ancestors shown; AVO shows all of its 40
  memory_scope scope = memory_scope::parent_trajectory;  ///< which earlier candidates an operator is shown

  selection select(const population_view& view, rng&) const {
    selection chosen;
    chosen.scope = scope;
    const bool lost =
        head_ == no_candidate || !view.row(head_).ranked();  // it may have failed a confirmation
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
    const std::optional<double> score = seen.ranked() ? std::optional(seen.score) : std::nullopt;
    const bool confirmed = seen.confirmed || confirmed_.of(seen.candidate).has_value();
    all_.set(seen.candidate, score);
    if (confirmed) confirmed_.set(seen.candidate, score);
    if (seen.candidate == head_) {
      if (!score || *score < mark()) head_ = best_remaining();
    } else if (score && *score >= mark()) {
      head_ = seen.candidate;
    }
  }

 private:
  /// The score that a candidate must reach to become the head.
  double mark() const {
    const double head = head_ == no_candidate ? -INFINITY : all_.of(head_).value_or(-INFINITY);
    return confirmed_.empty() ? head : std::max(head, confirmed_.greatest());
  }
  candidate_id best_remaining() const {
    if (!confirmed_.empty()) return confirmed_.best();
    return all_.empty() ? no_candidate : all_.best();
  }

  candidate_id head_ = no_candidate;
  detail::latest_scores all_;
  detail::latest_scores confirmed_;
};

}  // namespace kevo
