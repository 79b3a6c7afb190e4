#pragma once
// The order of a container's elites by score, made when it is first asked for.

#include <cstddef>
#include <cstdint>

#include <kevo/detail/ranking.hpp>

namespace kevo::detail {

/// Containers whose elites nobody ranks should not pay for their order at every insertion. So it is built at
/// the first question, O(n log n), and from then on kept up to date by `insert` and `erase`, O(log n) each;
/// or forgotten and built again. Not thread-safe, not even its const functions.
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
