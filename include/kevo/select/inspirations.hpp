#pragma once
// What every selector shares: where parents are drawn from, and which other candidates an operator is shown.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <kevo/select.hpp>

namespace kevo {

/// Where parents come from: all valid candidates, or the archive's elites while it has any.
enum class parent_source : std::uint8_t { population, archive };

inline constexpr std::array<std::string_view, 2> parent_source_names = {"population", "archive"};
inline constexpr std::string_view to_string(parent_source from) {
  return parent_source_names[static_cast<std::size_t>(from)];
}

/// The candidates of a source, best first. A view: valid as long as the population_view is.
class parent_pool {
 public:
  parent_pool(const population_view& view, parent_source from)
      : view_(&view),
        elites_(from == parent_source::archive && view.archive() && view.archive().size() > 0) {}

  std::size_t size() const { return elites_ ? view_->archive().size() : view_->ranked(); }
  candidate_id nth_best(std::size_t rank) const {
    return elites_ ? view_->archive().nth_best(rank) : view_->nth_best(rank);
  }
  double total_score() const { return elites_ ? view_->archive().total_score() : view_->total_score(); }
  candidate_id at_mass(double mass) const {
    return elites_ ? view_->archive().at_mass(mass) : view_->at_mass(mass);
  }
  /// Any of them, all with the same probability.
  candidate_id uniform(rng& random) const {
    return elites_ ? view_->archive().sample(random)->id : view_->nth_best(random.below(size()));
  }

 private:
  const population_view* view_;
  bool elites_;
};

/// How many other candidates an operator is shown beside the parents: `top`, the best elites; `diverse`,
/// elites drawn uniformly, which in a grid means from any other cell (OpenEvolve's and ShinkaEvolve's two
/// kinds); `neighbours`, elites of the niches nearest to the first parent's (OpenEvolve: at most two bins
/// away; nobody, if the parent is no elite or the archive knows no neighbourhood); `contrastive`, valid
/// candidates drawn uniformly from the worse half of the population, so that an operator sees what slow looks
/// like too (after CUDA-L1's exemplars of different speed; `bucket_softmax` has its exact rule). Never a
/// parent, never one twice; fewer if there are not so many.
struct inspirations {
  std::size_t top = 1;
  std::size_t diverse = 1;
  std::size_t neighbours = 0;
  std::size_t contrastive = 0;

  /// Appends to `chosen.inspirations`, in the order top, diverse, neighbours, contrastive. O(top + diverse +
  /// contrastive) draws and one question about neighbours.
  void add_to(selection& chosen, const population_view& view, rng& random) const {
    const parent_pool pool(view, parent_source::archive);
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
      std::size_t found = 0;  // some of the nearest may be shown already
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

/// The selection of one parent and its company.
inline selection vary_one(candidate_id parent, const inspirations& shown, memory_scope scope,
                          const population_view& view, rng& random) {
  selection chosen;
  chosen.parents = {parent};
  chosen.scope = scope;
  shown.add_to(chosen, view, random);
  return chosen;
}

}  // namespace kevo
