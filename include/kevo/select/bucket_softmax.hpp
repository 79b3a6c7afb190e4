#pragma once
// A selector that draws candidates of different speed from buckets of scores: CUDA-L1 (arXiv 2507.14111).

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include <kevo/detail/score_bucket.hpp>
#include <kevo/select/inspirations.hpp>

namespace kevo {

/// Draws exemplars of different speed as CUDA-L1 does (arXiv 2507.14111). Valid candidates are sorted into
/// buckets by score, in which scores differ by less than the factor 1 + width. `exemplars` different buckets
/// are drawn with probability proportional to exp(mean score / (temperature * greatest mean score)), and one
/// candidate is drawn uniformly from each. The best of these candidates is the parent and the others are the
/// inspirations, so that an operator can compare fast and slow programs. The paper does not give width and
/// temperature: the defaults are kevo's choices. A pick costs O(exemplars * buckets), an observation O(log
/// buckets). Neither depends on the number of candidates.
class bucket_softmax {
 public:
  double width = 0.25;        ///< width of a bucket, relative to its scores; set before the first observation
  double temperature = 0.3;   ///< of the softmax, relative to the greatest mean score of a bucket
  std::size_t exemplars = 2;  ///< number of candidates, the parent included; fewer if there are fewer buckets
  memory_scope scope = memory_scope::parent_trajectory;  ///< which earlier candidates an operator is shown

  selection select(const population_view& view, rng& random) const {
    std::vector<const bucket*> all;
    std::vector<double> weights;
    double top = -INFINITY;
    for (const auto& [k, b] : buckets_) top = std::max(top, b.mean());
    for (const auto& [k, b] : buckets_) {
      all.push_back(&b);
      weights.push_back(detail::bucket_weight(b.mean(), top, temperature));
    }
    selection chosen;
    chosen.scope = scope;
    for (std::size_t n = std::min(exemplars, all.size()); n > 0; --n) {
      const std::size_t k = random.weighted(weights);
      if (k == weights.size()) break;  // all remaining weights are 0
      weights[k] = 0;
      const auto& members = all[k]->members;
      chosen.inspirations.push_back(members[random.below(members.size())]);
    }
    if (chosen.inspirations.empty()) chosen.inspirations = {view.nth_best(0)};
    const auto best =
        std::max_element(chosen.inspirations.begin(), chosen.inspirations.end(),
                         [&view](candidate_id a, candidate_id b) { return view.score(a) < view.score(b); });
    chosen.parents = {*best};
    chosen.inspirations.erase(best);
    return chosen;
  }

  void observe(const observation& seen) {
    leave(seen.candidate);
    if (seen.ranked()) enter(seen.candidate, seen.score);
  }

 private:
  struct bucket {
    std::vector<candidate_id> members;
    double sum = 0;
    double mean() const { return sum / static_cast<double>(members.size()); }
  };
  struct place {
    std::int64_t bucket = 0;
    std::uint32_t index = 0;
    double score = 0;
    bool known = false;
  };

  void enter(candidate_id id, double score) {
    const std::int64_t k = detail::score_bucket(score, width);
    bucket& b = buckets_[k];
    if (id >= places_.size()) places_.resize(id + std::size_t{1});
    places_[id] = {k, static_cast<std::uint32_t>(b.members.size()), score, true};
    b.members.push_back(id);
    b.sum += score;
  }
  void leave(candidate_id id) {
    if (id >= places_.size() || !places_[id].known) return;
    const place at = places_[id];
    bucket& b = buckets_[at.bucket];
    b.members[at.index] = b.members.back();
    places_[b.members[at.index]].index = at.index;
    b.members.pop_back();
    b.sum -= at.score;
    places_[id].known = false;
    if (b.members.empty()) buckets_.erase(at.bucket);
  }

  std::map<std::int64_t, bucket> buckets_;
  std::vector<place> places_;  // by candidate
};

}  // namespace kevo
