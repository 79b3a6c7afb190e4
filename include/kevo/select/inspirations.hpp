#pragma once
// What all selectors share: which candidates parents are drawn from, and which further candidates an operator
// is shown.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <kevo/select.hpp>

namespace kevo {

/// Which candidates parents are drawn from. `population`: all valid candidates. `archive`: the elites of the
/// archive, or all valid candidates while there are no elites.
enum class parent_source : std::uint8_t { population, archive };

/// The names of the sources, in the order of `parent_source`.
inline constexpr std::array<std::string_view, 2> parent_source_names = {"population", "archive"};
/// The name of a source, as configs write it.
inline constexpr std::string_view to_string(parent_source from) {
  return parent_source_names[static_cast<std::size_t>(from)];
}

/// The candidates of a parent_source, best first. It refers to the population_view and is valid as long as
/// the view is.
class parent_pool {
 public:
  parent_pool(const population_view& view, parent_source from)
      : view_(&view),
        elites_(from == parent_source::archive && view.archive() && view.archive().size() > 0) {}

  /// The number of candidates.
  std::size_t size() const { return elites_ ? view_->archive().size() : view_->ranked(); }
  /// The candidate of a rank < size(); 0 is the best.
  candidate_id nth_best(std::size_t rank) const {
    return elites_ ? view_->archive().nth_best(rank) : view_->nth_best(rank);
  }
  /// Sum of the weights, which are the scores while all scores are positive (see population.hpp).
  double total_score() const { return elites_ ? view_->archive().total_score() : view_->total_score(); }
  /// The candidate at which the running sum of weights, best first, exceeds `mass`.
  candidate_id at_mass(double mass) const {
    return elites_ ? view_->archive().at_mass(mass) : view_->at_mass(mass);
  }
  /// A candidate drawn uniformly.
  candidate_id uniform(rng& random) const {
    return elites_ ? view_->archive().sample(random)->id : view_->nth_best(random.below(size()));
  }

 private:
  const population_view* view_;
  bool elites_;
};

/// How many candidates an operator is shown in addition to the parents, by kind. No parent is shown, and no
/// candidate is shown twice. Fewer are shown if there are not enough candidates or if 8 draws for each wanted
/// candidate do not find enough different ones.
///
/// `top`: the best elites. `diverse`: elites drawn uniformly; in a grid they are from other cells than the
/// parent. These two are the kinds of OpenEvolve and ShinkaEvolve. `neighbours`: elites of the niches nearest
/// to the niche of the first parent (OpenEvolve: at most two bins away); none if the parent is not an elite
/// or the archive defines no distance. `contrastive`: valid candidates drawn uniformly from the worse half of
/// the population, so that an operator also sees slow programs. This follows CUDA-L1's exemplars of different
/// speed; `bucket_softmax` implements CUDA-L1's exact rule.
struct inspirations {
  std::size_t top = 1;          ///< number of best elites
  std::size_t diverse = 1;      ///< number of elites drawn uniformly
  std::size_t neighbours = 0;   ///< number of elites of the nearest niches
  std::size_t contrastive = 0;  ///< number of candidates of the worse half

  /// Appends to `chosen.inspirations`, in the order top, diverse, neighbours, contrastive. Costs O(top +
  /// diverse + contrastive) draws and one call of the archive's `neighbours`.
  void add_to(selection& chosen, const population_view& view, rng& random) const {
    add_to(chosen, view, parent_pool(view, parent_source::archive), random);
  }
  /// The same with `top` and `diverse` from `pool`, which needs the functions size, nth_best and uniform.
  template <class Pool>
  void add_to(selection& chosen, const population_view& view, const Pool& pool, rng& random) const {
    const auto show = [&chosen](candidate_id id) {
      const auto in = [id](const auto& ids) { return std::find(ids.begin(), ids.end(), id) != ids.end(); };
      const bool fresh = !in(chosen.parents) && !in(chosen.inspirations);
      if (fresh) chosen.inspirations.push_back(id);
      return fresh;
    };
    for (std::size_t rank = 0, found = 0; found < top && rank < pool.size(); ++rank) {
      found += show(pool.nth_best(rank)) ? 1 : 0;
    }
    for (std::size_t tries = 8 * diverse, found = 0; found < diverse && tries > 0 && pool.size() > 0;
         --tries) {
      found += show(pool.uniform(random)) ? 1 : 0;
    }
    if (neighbours > 0 && view.archive() && !chosen.parents.empty()) {
      std::size_t found = 0;  // some of the nearest may already be shown
      const std::size_t asked = neighbours + chosen.inspirations.size() + chosen.parents.size();
      for (const candidate_id id : view.archive().neighbours(chosen.parents.front(), asked)) {
        if (found < neighbours && show(id)) ++found;
      }
    }
    const std::size_t worse = view.ranked() / 2;
    for (std::size_t tries = 8 * contrastive, found = 0; found < contrastive && tries > 0 && worse > 0;
         --tries) {
      found += show(view.nth_best(view.ranked() - 1 - random.below(worse))) ? 1 : 0;
    }
  }
};

/// The decision to vary `parent`, with the inspirations that `shown` asks for.
inline selection vary_one(candidate_id parent, const inspirations& shown, memory_scope scope,
                          const population_view& view, rng& random) {
  selection chosen;
  chosen.parents = {parent};
  chosen.scope = scope;
  shown.add_to(chosen, view, random);
  return chosen;
}

}  // namespace kevo
