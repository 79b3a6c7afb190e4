#pragma once
// A selector that explores more when the score improves less: the exploration intensity of AdaEvolve.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>

#include <kevo/detail/latest_scores.hpp>
#include <kevo/detail/zipf.hpp>
#include <kevo/select/inspirations.hpp>

namespace kevo {

/// Selects parents with the exploration intensity of AdaEvolve. G is a moving average of the squared relative
/// gains d of the best score: G <- 0.9 G + 0.1 d^2 whenever a candidate improves on the best score. The
/// probability of exploring is
///
///     intensity = least + (most - least) / (1 + sqrt(G + 1e-8)),  least = 0.15, most = 0.5
///
/// If the selector explores, the parent is drawn uniformly from the elites. Otherwise it is drawn by rank,
/// with a power law of exponent `alpha`. If `elite_share` is above 0, the power law is not used: the parent
/// is drawn from all elites in proportion to the score with probability `proportional`, else uniformly from
/// the share `elite_share` of the elites, the best ones. AdaEvolve's code uses elite_share = 0.25 and
/// proportional = 0.3. If `from` is `population`, all valid candidates take the place of the elites.
///
/// The first score counts as a gain of 1, and no gain counts as more than 1, so that G is at most 1 and the
/// intensity at least about (least + most) / 2. Results that do not improve on the best score leave G
/// unchanged, as in AdaEvolve's code. The best score is the greatest of the candidates' latest scores: it
/// falls if the best candidate gets a lower score when it is measured again. On islands (`on_islands`) each
/// island has its own G. Gains of a few percent hardly change the intensity of the published formula, so
/// `gain` scales d. AdaEvolve's paradigm shifts are not part of this selector. A pick costs O(log n), an
/// observation amortized O(log n).
class adaptive_intensity {
 public:
  double least = 0.15;        ///< limit of the formula for large G
  double most = 0.5;          ///< intensity without gains
  double decay = 0.9;         ///< weight of the old G when a gain changes it
  double gain = 1.0;          ///< factor of the relative gains; 1 is the published value
  double alpha = 2.0;         ///< exponent of the power law; kevo's choice
  double elite_share = 0;     ///< fraction of the elites, the best ones; 0 uses the power law
  double proportional = 0.3;  ///< probability; used only if elite_share is above 0
  parent_source from = parent_source::archive;           ///< the candidates that parents are drawn from
  kevo::inspirations inspirations;                       ///< which further candidates an operator is shown
  memory_scope scope = memory_scope::parent_trajectory;  ///< which earlier candidates an operator is shown

  selection select(const population_view& view, rng& random) const {
    const parent_pool pool(view, from);
    const candidate_id parent = random.chance(intensity()) ? pool.uniform(random) : exploit(pool, random);
    return vary_one(parent, inspirations, scope, view, random);
  }

  void observe(const observation& seen) {
    const std::optional<double> best = best_score();
    scores_.set(seen.candidate, seen.ranked() ? std::optional(seen.score) : std::nullopt);
    if (!seen.ranked() || (best && seen.score <= *best)) return;
    const double d = best ? std::min(gain * relative_gain(seen.score, *best), 1.0) : 1.0;
    energy_ = decay * energy_ + (1 - decay) * d * d;
  }

  /// The current probability of exploring.
  double intensity() const { return least + (most - least) / (1 + std::sqrt(energy_ + 1e-8)); }

 private:
  candidate_id exploit(const parent_pool& pool, rng& random) const {
    if (elite_share <= 0) return pool.nth_best(detail::zipf(pool.size(), alpha, random));
    if (random.chance(proportional)) return pool.at_mass(random.uniform() * pool.total_score());
    const auto best = static_cast<std::size_t>(elite_share * static_cast<double>(pool.size()));
    return pool.nth_best(random.below(std::clamp<std::size_t>(best, 1, pool.size())));
  }
  std::optional<double> best_score() const {
    return scores_.empty() ? std::nullopt : std::optional(scores_.greatest());
  }

  double energy_ = 0;
  detail::latest_scores scores_;
};

}  // namespace kevo
