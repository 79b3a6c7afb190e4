#pragma once
// Nearest neighbour search among fixed points.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace kevo::detail {

/// A k-d tree (Bentley, "Multidimensional binary search trees used for associative searching", CACM 1975).
/// `points` holds the coordinates of one point after the other, `dimensions` numbers each. Construction is
/// O(n log^2 n); a query is O(log n) expected in few dimensions.
class kd_tree {
 public:
  kd_tree() = default;
  kd_tree(std::vector<double> points, std::size_t dimensions)
      : points_(std::move(points)), dimensions_(dimensions), order_(points_.size() / dimensions) {
    for (std::size_t i = 0; i < order_.size(); ++i) order_[i] = static_cast<std::uint32_t>(i);
    axes_.resize(order_.size());
    build(0, order_.size());
  }

  std::size_t size() const { return order_.size(); }
  std::span<const double> point(std::size_t i) const { return {&points_[i * dimensions_], dimensions_}; }

  /// The index of the point nearest to `query`; of equally near ones the smallest index. The tree must not be
  /// empty.
  std::size_t nearest(std::span<const double> query) const {
    found best;
    search(query, 0, order_.size(), best);
    return best.index;
  }

 private:
  struct found {
    std::size_t index = 0;
    double distance = std::numeric_limits<double>::infinity();  // squared
  };
  static constexpr std::size_t leaf = 8;

  double coordinate(std::size_t place, std::size_t axis) const {
    return points_[order_[place] * dimensions_ + axis];
  }

  /// The middle of [first, last) becomes the node, split along the axis of greatest extent.
  void build(std::size_t first, std::size_t last) {
    if (last - first <= leaf) return;
    std::size_t widest = 0;
    double extent = -1;
    for (std::size_t axis = 0; axis < dimensions_; ++axis) {
      double low = coordinate(first, axis), high = low;
      for (std::size_t i = first; i < last; ++i) {
        low = std::min(low, coordinate(i, axis));
        high = std::max(high, coordinate(i, axis));
      }
      if (high - low > extent) widest = axis, extent = high - low;
    }
    const std::size_t middle = first + (last - first) / 2;
    const auto at = [this](std::size_t place) { return order_.begin() + static_cast<std::ptrdiff_t>(place); };
    std::nth_element(at(first), at(middle), at(last), [this, widest](std::uint32_t a, std::uint32_t b) {
      const double x = points_[a * dimensions_ + widest], y = points_[b * dimensions_ + widest];
      return x < y || (x == y && a < b);
    });
    axes_[middle] = static_cast<std::uint8_t>(widest);
    build(first, middle);
    build(middle + 1, last);
  }

  void look(std::span<const double> query, std::size_t place, found& best) const {
    const std::size_t index = order_[place];
    double distance = 0;
    for (std::size_t axis = 0; axis < dimensions_; ++axis) {
      const double difference = points_[index * dimensions_ + axis] - query[axis];
      distance += difference * difference;
    }
    if (distance < best.distance || (distance == best.distance && index < best.index))
      best = {index, distance};
  }

  void search(std::span<const double> query, std::size_t first, std::size_t last, found& best) const {
    if (last - first <= leaf) {
      for (std::size_t place = first; place < last; ++place) look(query, place, best);
      return;
    }
    const std::size_t middle = first + (last - first) / 2;
    const double side = query[axes_[middle]] - coordinate(middle, axes_[middle]);
    look(query, middle, best);
    if (side < 0) {
      search(query, first, middle, best);
      if (side * side <= best.distance) search(query, middle + 1, last, best);
    } else {
      search(query, middle + 1, last, best);
      if (side * side <= best.distance) search(query, first, middle, best);
    }
  }

  std::vector<double> points_;
  std::size_t dimensions_ = 1;
  std::vector<std::uint32_t> order_;
  std::vector<std::uint8_t> axes_;  // the split axis of the node at each place
};

}  // namespace kevo::detail
