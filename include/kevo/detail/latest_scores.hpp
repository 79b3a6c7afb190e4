#pragma once
// The latest score of every candidate, and the extremes of these scores, also when candidates are measured
// again.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

#include <kevo/candidate.hpp>

namespace kevo::detail {

/// The latest score of each candidate that has one. The extremes are always those of the latest scores: if
/// the score of the best candidate falls, or if it fails, the greatest score falls, too. The extremes are the
/// tops of heaps, whose outdated entries are removed when they reach the top. A change is amortized O(log n)
/// in the worst case, and hardly more than a push if most scores are not extreme. 40 bytes for each
/// candidate.
class latest_scores {
 public:
  /// Sets the score of a candidate; without a value the candidate has no score.
  void set(candidate_id id, std::optional<double> score) {
    if (id >= scores_.size()) scores_.resize(id + std::size_t{1}, none);
    size_ -= std::isnan(scores_[id]) ? 0U : 1U;
    size_ += score ? 1U : 0U;
    scores_[id] = score.value_or(none);
    if (score) {
      push(best_, {*score, id}, below);
      push(worst_, {*score, id}, above);
    }
    drop_outdated(best_, below);
    drop_outdated(worst_, above);
  }
  /// The score of a candidate; nothing if it has none.
  std::optional<double> of(candidate_id id) const {
    if (id >= scores_.size() || std::isnan(scores_[id])) return std::nullopt;
    return scores_[id];
  }
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  /// The candidate with the greatest score; of equal scores the older one. This and the extremes need at
  /// least one score.
  candidate_id best() const { return best_.front().id; }
  double greatest() const { return best_.front().score; }
  double least() const { return worst_.front().score; }

 private:
  struct entry {
    double score = 0;
    candidate_id id = no_candidate;
  };
  static constexpr double none = std::numeric_limits<double>::quiet_NaN();

  static bool below(const entry& a, const entry& b) {
    return a.score < b.score || (a.score == b.score && a.id > b.id);
  }
  static bool above(const entry& a, const entry& b) { return a.score > b.score; }

  template <class Order>
  static void push(std::vector<entry>& heap, entry added, Order order) {
    heap.push_back(added);
    std::push_heap(heap.begin(), heap.end(), order);
  }
  template <class Order>
  void drop_outdated(std::vector<entry>& heap, Order order) {
    while (!heap.empty() && scores_[heap.front().id] != heap.front().score) {
      std::pop_heap(heap.begin(), heap.end(), order);
      heap.pop_back();
    }
  }

  std::vector<double> scores_;  // by candidate
  std::vector<entry> best_;     // heaps; all entries but the first may be outdated
  std::vector<entry> worst_;
  std::size_t size_ = 0;
};

}  // namespace kevo::detail
