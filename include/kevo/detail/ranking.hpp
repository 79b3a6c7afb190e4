#pragma once
// An order-statistic set of (score, id), best first.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace kevo::detail {

/// Candidates ordered by falling score, equal scores by rising id.
class ranking {
 public:
  using id_type = std::uint32_t;

  std::size_t size() const { return order_.size(); }
  double total() const { return total_; }

  void insert(id_type id, double score) {
    order_.insert(std::lower_bound(order_.begin(), order_.end(), key(id, score)), key(id, score));
    total_ += score;
  }
  void erase(id_type id, double score) {
    order_.erase(std::lower_bound(order_.begin(), order_.end(), key(id, score)));
    total_ -= score;
  }
  id_type nth(std::size_t rank) const { return order_[rank].second; }
  std::size_t rank(id_type id, double score) const {
    return static_cast<std::size_t>(std::lower_bound(order_.begin(), order_.end(), key(id, score)) -
                                    order_.begin());
  }
  id_type at_mass(double mass) const {
    for (const auto& [negative, id] : order_) {
      mass += negative;
      if (mass < 0) return id;
    }
    return order_.back().second;
  }

 private:
  static std::pair<double, id_type> key(id_type id, double score) { return {-score, id}; }
  std::vector<std::pair<double, id_type>> order_;
  double total_ = 0;
};

}  // namespace kevo::detail
