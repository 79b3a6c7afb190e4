#pragma once
// The population: for every candidate, the data that selection needs, in memory. Edges are in the search
// graph (search_graph.hpp), niches in the archive.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <kevo/archive.hpp>
#include <kevo/candidate.hpp>
#include <kevo/detail/ranking.hpp>
#include <kevo/evaluation.hpp>

namespace kevo {

/// The data of one candidate.
struct population_row {
  double score = 0;                                     ///< the value to maximize; 0 unless valid
  std::uint32_t children = 0;                           ///< number of children
  std::uint16_t evaluations = 0;                        ///< number of finished evaluations
  operator_index made_by = seed_operator;               ///< the operator that made it
  kevo::outcome outcome = kevo::outcome::build_failed;  ///< by the latest evaluation
  bool evaluated = false;                               ///< whether an evaluation has finished

  /// Whether the candidate is valid by its latest evaluation and has a finite score.
  bool ranked() const { return evaluated && outcome == kevo::outcome::valid && std::isfinite(score); }
};

/// The rows of all candidates, and an index of the ranked ones by score. Not thread-safe.
class population {
 public:
  /// The number of candidates.
  std::size_t size() const { return rows_.size(); }
  /// The data of a candidate, whose id must be less than size(). Valid until the next `add`.
  const population_row& row(candidate_id id) const { return rows_[id]; }

  /// Appends a candidate that is not evaluated yet and returns its id. Amortized O(1) for each parent.
  candidate_id add(operator_index made_by, std::span<const candidate_id> parents) {
    for (const candidate_id parent : parents) ++rows_[parent].children;
    rows_.push_back({.made_by = made_by});
    return static_cast<candidate_id>(rows_.size() - 1);
  }

  /// Records a finished evaluation. The candidate is ranked if the outcome is valid and `score` is finite.
  /// O(log n).
  void evaluate(candidate_id id, outcome result, double score) {
    population_row& r = rows_[id];
    if (r.ranked()) ranking_.erase(id, r.score);
    r.outcome = result;
    r.score = result == outcome::valid ? score : 0;
    r.evaluated = true;
    ++r.evaluations;
    if (r.ranked()) ranking_.insert(id, r.score);
  }

  /// The number of ranked candidates, which are valid and have a finite score.
  std::size_t ranked() const { return ranking_.size(); }
  /// The candidate of a rank; rank 0 is the best. Of equal scores, the older candidate comes first. O(log n).
  candidate_id nth_best(std::size_t rank) const { return ranking_.nth(rank); }
  /// The rank of a ranked candidate. O(log n).
  std::size_t rank_of(candidate_id id) const { return ranking_.rank(id, rows_[id].score); }
  /// The sum of the weights of all ranked candidates. If all scores are positive, the weight of a candidate
  /// is its score; otherwise the scores are shifted so that all weights are positive (detail/ranking.hpp).
  double total_score() const { return ranking_.total(); }
  /// The ranked candidate at which the running sum of weights (best first) exceeds `mass`. O(log n).
  candidate_id at_mass(double mass) const { return ranking_.at_mass(mass); }

 private:
  std::vector<population_row> rows_;
  detail::ranking ranking_;
};

/// Functions that give the relatives of a candidate in the search graph. The time of a call is proportional
/// to the size of its result.
struct lineage_queries {
  std::function<std::vector<candidate_id>(candidate_id)> parents;   ///< in the order of the selection
  std::function<std::vector<candidate_id>(candidate_id)> children;  ///< oldest first
};

/// A read-only view of population, archive and lineage for selectors. Valid during one call of `select` or
/// `observe`. The members do what those of `population` do.
class population_view {
 public:
  /// All three arguments must outlive the view.
  population_view(const population& all, const any_archive& kept, const lineage_queries& relatives)
      : all_(&all), kept_(&kept), relatives_(&relatives) {}

  std::size_t size() const { return all_->size(); }
  const population_row& row(candidate_id id) const { return all_->row(id); }
  /// The score of a candidate; 0 unless valid.
  double score(candidate_id id) const { return all_->row(id).score; }
  std::size_t ranked() const { return all_->ranked(); }
  candidate_id nth_best(std::size_t rank) const { return all_->nth_best(rank); }
  std::size_t rank_of(candidate_id id) const { return all_->rank_of(id); }
  double total_score() const { return all_->total_score(); }
  candidate_id at_mass(double mass) const { return all_->at_mass(mass); }
  /// The archive of the run, or the one that was given to `with`.
  const any_archive& archive() const { return *kept_; }
  /// The same view with another archive, e.g. that of one island. The archive must outlive the view.
  population_view with(const any_archive& other) const { return {*all_, other, *relatives_}; }
  /// The parents of a candidate.
  std::vector<candidate_id> parents(candidate_id id) const { return relatives_->parents(id); }
  /// The children of a candidate.
  std::vector<candidate_id> children(candidate_id id) const { return relatives_->children(id); }

 private:
  const population* all_;
  const any_archive* kept_;
  const lineage_queries* relatives_;
};

}  // namespace kevo
