#pragma once
// The order of the elites of an archive by score, built at the first rank query.

#include <cstddef>
#include <cstdint>

#include <kevo/detail/ranking.hpp>

namespace kevo::detail {

/// Archives without rank queries should not pay for an order at every insertion. So the order is built at the
/// first query, in O(n log n). From then on `insert` and `erase` keep it up to date in O(log n) each, or
/// `forget` discards it until the next query. Not thread-safe, including the const functions.
class elite_order {
 public:
  /// The ranking of all elites of `kept`, any type with `size()` and `at(i)`.
  template <class Archive>
  const ranking& of(const Archive& kept) const {
    if (!known_) {
      for (std::size_t i = 0; i < static_cast<std::size_t>(kept.size()); ++i) {
        const auto one = kept.at(i);
        order_.insert(one.id, one.score);
      }
      known_ = true;
    }
    return order_;
  }

  void insert(std::uint32_t id, double score) {
    if (known_) order_.insert(id, score);
  }
  void erase(std::uint32_t id, double score) {
    if (known_) order_.erase(id, score);
  }
  void forget() {
    if (!known_) return;
    order_ = {};
    known_ = false;
  }

 private:
  mutable ranking order_;
  mutable bool known_ = false;
};

}  // namespace kevo::detail
