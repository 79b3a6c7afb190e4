#pragma once
// Elites with one point each: the storage of archives without cells.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include <kevo/archive.hpp>
#include <kevo/detail/elite_order.hpp>
#include <kevo/detail/nearest_elites.hpp>

namespace kevo::detail {

/// A dense list of elites with points of `dimensions` numbers. `neighbours` is O(elites). The first rank
/// query is O(elites log elites); further ones, and changes after it, are O(log elites). All else is O(1).
class point_elites {
 public:
  explicit point_elites(std::size_t dimensions) : dimensions_(dimensions) {}

  void insert(candidate_id id, double score, std::span<const double> point) {
    slot_of_[id] = static_cast<std::uint32_t>(elites_.size());
    elites_.push_back({id, score, 0});
    points_.insert(points_.end(), point.begin(), point.end());
    order_.insert(id, score);
  }
  bool remove(candidate_id id) {
    const auto it = slot_of_.find(id);
    if (it == slot_of_.end()) return false;
    const std::size_t slot = it->second, last = elites_.size() - 1;
    order_.erase(id, elites_[slot].score);
    slot_of_.erase(it);
    if (slot != last) {  // the last elite moves into the gap
      elites_[slot] = elites_[last];
      for (std::size_t k = 0; k < dimensions_; ++k) {
        points_[slot * dimensions_ + k] = points_[last * dimensions_ + k];
      }
      slot_of_[elites_[slot].id] = static_cast<std::uint32_t>(slot);
    }
    elites_.pop_back();
    points_.resize(last * dimensions_);
    return true;
  }

  std::optional<elite> find(candidate_id id) const {
    const auto it = slot_of_.find(id);
    if (it == slot_of_.end()) return std::nullopt;
    return elites_[it->second];
  }
  /// At most `count` other elites, nearest first. O(elites).
  std::vector<candidate_id> neighbours(candidate_id id, std::size_t count) const {
    const auto it = slot_of_.find(id);
    if (it == slot_of_.end()) return {};
    return nearest_elites(*this, id, count,
                          [&](std::size_t i) { return squared_distance(point(it->second), point(i)); });
  }
  /// The point of an elite; the candidate must be kept.
  std::vector<double> point_of(candidate_id id) const {
    const auto here = point(slot_of_.at(id));
    return {here.begin(), here.end()};
  }
  std::optional<elite> sample(rng& random) const {
    if (elites_.empty()) return std::nullopt;
    return elites_[random.below(elites_.size())];
  }
  std::size_t size() const { return elites_.size(); }
  elite at(std::size_t i) const { return elites_[i]; }
  std::span<const double> point(std::size_t i) const {
    return {points_.data() + i * dimensions_, dimensions_};
  }
  const ranking& order() const { return order_.of(*this); }

 private:
  std::size_t dimensions_;
  std::vector<elite> elites_;
  std::vector<double> points_;
  std::unordered_map<candidate_id, std::uint32_t> slot_of_;
  elite_order order_;
};

}  // namespace kevo::detail
