#pragma once
// A selector that prefers elites whose children entered the archive: the curiosity score (Cully & Demiris,
// 2018).

#include <algorithm>
#include <cstddef>
#include <vector>

#include <kevo/detail/ranking.hpp>
#include <kevo/select/inspirations.hpp>

namespace kevo {

/// Draws elites with probability proportional to their curiosity score (Cully & Demiris, "Quality and
/// diversity optimization: a unifying modular framework", IEEE TEVC 22(2), 2018). An elite gains `reward`
/// when a child of it enters the archive and loses `penalty` when a child does not; its score never falls
/// below `least`. So the search prefers elites whose children still enter the archive. A pick costs amortized
/// O(log elites).
class curiosity {
 public:
  double reward = 1.0;   ///< gain of an elite's score for a child that enters the archive
  double penalty = 0.5;  ///< loss for a child that does not
  double start = 1.0;    ///< curiosity score of an elite without children
  double least = 0.01;   ///< lower limit of the score; kevo's choice, so that every elite can still be drawn
  kevo::inspirations inspirations;                       ///< which further candidates an operator is shown
  memory_scope scope = memory_scope::parent_trajectory;  ///< which earlier candidates an operator is shown

  selection select(const population_view& view, rng& random) {
    return vary_one(draw(view, random), inspirations, scope, view, random);
  }

  void observe(const observation& seen) {
    const candidate_id id = seen.candidate;
    if (seen.archived.status != archive_status::rejected && !at(id).listed) list(id);
    if (at(id).counted) return;  // a repeated measurement is not another child
    at(id).counted = true;
    for (const candidate_id parent : seen.parents) {
      const bool listed = at(parent).listed;
      if (listed) unlist(parent);
      const bool kept = seen.archived.status != archive_status::rejected;
      at(parent).score = std::max(least, score_of(parent) + (kept ? reward : -penalty));
      if (listed) list(parent);
    }
  }

  /// The curiosity score of a candidate; `start` if it has no children.
  double score_of(candidate_id id) const {
    return id < all_.size() && all_[id].score != unset ? all_[id].score : start;
  }

 private:
  static constexpr double unset = -1;
  struct member {
    double score = unset;
    bool listed = false;   // in `elites_`: it entered the archive and was not found displaced yet
    bool counted = false;  // whether it was counted as a child of its parents
  };

  /// Draws an elite by its score. Elites that were displaced are detected and removed here, when they are
  /// drawn.
  candidate_id draw(const population_view& view, rng& random) {
    while (!elites_.empty()) {
      const candidate_id id = elites_.at_mass(random.uniform() * elites_.total());
      if (view.archive() && view.archive().contains(id)) return id;
      unlist(id);
    }
    return parent_pool(view, parent_source::archive).uniform(random);
  }

  member& at(candidate_id id) {
    if (id >= all_.size()) all_.resize(id + std::size_t{1});
    return all_[id];
  }
  void list(candidate_id id) {
    at(id).listed = true;
    elites_.insert(id, score_of(id));
  }
  void unlist(candidate_id id) {
    elites_.erase(id, score_of(id));
    at(id).listed = false;
  }

  std::vector<member> all_;  // by candidate
  detail::ranking elites_;   // by curiosity
};

}  // namespace kevo
