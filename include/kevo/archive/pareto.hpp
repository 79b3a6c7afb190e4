#pragma once
// An archive of the candidates that no other one dominates in the score and further objectives: a Pareto
// front.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <kevo/archive.hpp>
#include <kevo/detail/point_elites.hpp>

namespace kevo {

/// A measure that is an objective in addition to the score. Smaller is better unless `maximize` is set.
struct objective {
  std::string measure;    ///< name of the measure
  bool maximize = false;  ///< whether greater is better
};

/// The candidates that no other one dominates in the score (greater is better) and the objectives. Of equal
/// points the older candidate stays. If there are more than `capacity` elites, the one with the least
/// crowding distance is removed (NSGA-II: Deb et al., IEEE TEVC 6(2), 2002); of equal distances, the
/// youngest. The best and the worst elite in the score or in an objective have an infinite distance, so they
/// are removed last. A candidate with an unknown objective counts as the worst in it. `add` is O(front), at
/// capacity O(front log front).
class pareto {
 public:
  /// An empty front. `capacity` is the maximum number of elites. Without objectives, only the best candidate
  /// is kept.
  explicit pareto(std::vector<objective> objectives, std::size_t capacity = 1000)
      : objectives_(std::move(objectives)), capacity_(capacity), front_(objectives_.size() + 1) {}

  /// Offers a candidate. If the result is `improved`, its value is the gain in score over the best displaced
  /// elite, at least 0.
  archive_result add(const archive_entry& entry) {
    if (!std::isfinite(entry.score)) return {};
    front_.remove(entry.id);
    const auto point = point_of(entry);
    std::vector<candidate_id> dominated;
    double best = -INFINITY;
    for (std::size_t i = 0; i < front_.size(); ++i) {
      if (covers(front_.point(i), point)) return {};
      if (!covers(point, front_.point(i))) continue;
      dominated.push_back(front_.at(i).id);
      best = std::max(best, front_.at(i).score);
    }
    for (const candidate_id id : dominated) front_.remove(id);
    front_.insert(entry.id, entry.score, point);
    if (front_.size() > capacity_) {
      const candidate_id out = most_crowded();
      front_.remove(out);
      if (out == entry.id) return {};
    }
    if (dominated.empty()) return {archive_status::new_cell, entry.score};
    return {archive_status::improved, std::max(entry.score - best, 0.0)};
  }
  /// Changes the score and the objectives of a kept candidate: `improved` by the increase of its score;
  /// `rejected` if the score did not increase (the candidate is still kept) or if it is now dominated (the
  /// candidate is removed). A candidate that is not kept is offered.
  archive_result update(const archive_entry& entry) {
    const auto before = front_.find(entry.id);
    const archive_result result = add(entry);
    if (!before || result.status == archive_status::rejected) return result;
    const double gain = entry.score - before->score;
    return gain > 0 ? archive_result{archive_status::improved, gain} : archive_result{};
  }
  bool remove(candidate_id id) { return front_.remove(id); }
  /// Predicts `kept` only if the front stays within its capacity: beyond it, the crowding distances of all
  /// elites decide which one is removed.
  archive_forecast forecast(const archive_entry& entry, candidate_id without) const {
    archive_forecast result{true, std::isfinite(entry.score), {}};
    const auto point = point_of(entry);
    std::size_t others = 0;
    for (std::size_t i = 0; i < front_.size() && result.kept; ++i) {
      const candidate_id id = front_.at(i).id;
      if (id == without || id == entry.id) continue;
      if (covers(front_.point(i), point)) return {true, false, {}};
      covers(point, front_.point(i)) ? result.displaced.push_back(id) : static_cast<void>(++others);
    }
    result.kept = result.kept && others < capacity_;
    return result;
  }

  std::optional<elite> sample(rng& random) const { return front_.sample(random); }
  std::size_t size() const { return front_.size(); }
  elite at(std::size_t i) const { return front_.at(i); }
  bool contains(candidate_id id) const { return front_.find(id).has_value(); }
  candidate_id nth_best(std::size_t rank) const { return front_.order().nth(rank); }
  double total_score() const { return front_.order().total(); }
  candidate_id at_mass(double mass) const { return front_.order().at_mass(mass); }
  std::vector<std::string> measures() const {
    std::vector<std::string> names;
    for (const objective& o : objectives_) names.push_back(o.measure);
    return names;
  }

 private:
  /// The point of an entry. Its first coordinate is the score, and greater is better in each.
  std::vector<double> point_of(const archive_entry& entry) const {
    std::vector<double> point = {entry.score};
    for (std::size_t i = 0; i < objectives_.size(); ++i) {
      const double value = i < entry.measures.size() ? entry.measures[i] : NAN;
      point.push_back(std::isnan(value) ? -INFINITY : objectives_[i].maximize ? value : -value);
    }
    return point;
  }
  /// Whether `a` is at least as good as `b` in every coordinate.
  static bool covers(std::span<const double> a, std::span<const double> b) {
    for (std::size_t k = 0; k < a.size(); ++k) {
      if (a[k] < b[k]) return false;
    }
    return true;
  }
  candidate_id most_crowded() const {
    std::vector<double> room(front_.size());
    std::vector<std::size_t> by(front_.size());
    for (std::size_t i = 0; i < by.size(); ++i) by[i] = i;
    for (std::size_t k = 0; k <= objectives_.size(); ++k) {
      std::sort(by.begin(), by.end(), [&](std::size_t a, std::size_t b) {
        const double x = front_.point(a)[k], y = front_.point(b)[k];
        return x < y || (x == y && front_.at(a).id < front_.at(b).id);
      });
      room[by.front()] = room[by.back()] = INFINITY;
      const double extent = front_.point(by.back())[k] - front_.point(by.front())[k];
      for (std::size_t i = 1; i + 1 < by.size(); ++i) {
        const double gap = front_.point(by[i + 1])[k] - front_.point(by[i - 1])[k];
        if (extent > 0 && std::isfinite(extent)) room[by[i]] += gap / extent;
      }
    }
    std::size_t least = 0;
    for (std::size_t i = 1; i < room.size(); ++i) {
      const bool younger = room[i] == room[least] && front_.at(i).id > front_.at(least).id;
      if (room[i] < room[least] || younger) least = i;
    }
    return front_.at(least).id;
  }

  std::vector<objective> objectives_;
  std::size_t capacity_;
  detail::point_elites front_;
};

}  // namespace kevo
