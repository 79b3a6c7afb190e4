#pragma once
// A selector that explores more while the search gains little: AdaEvolve's intensity of exploration.

#include <cmath>
#include <optional>

#include <kevo/detail/zipf.hpp>
#include <kevo/select/inspirations.hpp>

namespace kevo {

/// AdaEvolve's intensity of exploration: G follows the squared relative gains d of the best score,
/// G <- 0.9 G + 0.1 d^2 after every new candidate, and
///
///     intensity = least + (most - least) / (1 + sqrt(G + 1e-8)),  least = 0.15, most = 0.5
///
/// is the probability that the parent is any elite; else it is drawn by rank (power law of `alpha`). Gains of
/// a few percent barely move the published formula, so `gain` scales d: 1 as published. Its islands and
/// paradigm shifts are not here. O(log n).
class adaptive_intensity {
 public:
  double least = 0.15;
  double most = 0.5;
  double decay = 0.9;
  double gain = 1.0;
  double alpha = 2.0;  ///< kevo's choice
  parent_source from = parent_source::archive;
  kevo::inspirations inspirations;
  memory_scope scope = memory_scope::parent_trajectory;

  selection select(const population_view& view, rng& random) const {
    const parent_pool pool(view, from);
    const candidate_id parent = random.chance(intensity())
                                    ? pool.uniform(random)
                                    : pool.nth_best(detail::zipf(pool.size(), alpha, random));
    return vary_one(parent, inspirations, scope, view, random);
  }

  void observe(const observation& seen) {
    double improvement = 0;
    if (seen.ranked() && (!best_ || seen.score > *best_)) {
      if (best_ && *best_ != 0) improvement = gain * (seen.score - *best_) / std::abs(*best_);
      best_ = seen.score;
    }
    energy_ = decay * energy_ + (1 - decay) * improvement * improvement;
  }

  double intensity() const { return least + (most - least) / (1 + std::sqrt(energy_ + 1e-8)); }

 private:
  double energy_ = 0;
  std::optional<double> best_;
};

}  // namespace kevo
