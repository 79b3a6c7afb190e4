#pragma once
// An archive without cells that keeps candidates far from all elites: novelty search with local competition
// (Lehman & Stanley, 2011).

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <kevo/archive.hpp>
#include <kevo/detail/point_elites.hpp>
#include <kevo/detail/point_space.hpp>

namespace kevo {

/// The unstructured archive of novelty search with local competition (Lehman & Stanley, "Evolving a diversity
/// of virtual creatures through novelty search and local competition", GECCO 2011; pyribs' proximity
/// archive). The novelty of a candidate is its mean distance to its k nearest elites (k is `nearest`). A
/// candidate whose novelty is at least `threshold` becomes an elite. Any other candidate must be better than
/// the elite nearest to it, and then replaces it. Distances are Euclidean, either between embedded sources or
/// between measures scaled to their ranges, as in `epsilon_net`. The default k = 15 is from the paper. The
/// thresholds, 0.05 in units of the ranges of measures and 0.1 between embedded sources, are kevo's choices.
/// `add` is O(elites).
class novelty {
 public:
  /// An archive with distances between measures. Throws kevo::error (input) for invalid ranges.
  explicit novelty(std::vector<measure_range> ranges, double threshold = 0.05, std::size_t nearest = 15)
      : novelty(detail::point_space(std::move(ranges)), threshold, nearest) {}
  /// An archive with distances between embedded sources. Entries without a source are rejected. Throws
  /// kevo::error (input) for an embedding without dimensions or function.
  explicit novelty(source_embedding embedding, double threshold = 0.1, std::size_t nearest = 15)
      : novelty(detail::point_space(std::move(embedding)), threshold, nearest) {}

  archive_result add(const archive_entry& entry) {
    elites_.remove(entry.id);
    const auto point = space_.point(entry);
    if (!std::isfinite(entry.score) || point.empty()) return {};
    const auto [distance, place] = look(point);
    if (distance >= threshold_) {
      elites_.insert(entry.id, entry.score, point);
      return {archive_status::new_cell, entry.score};
    }
    const elite rival = elites_.at(place);
    if (!(entry.score > rival.score)) return {};
    elites_.remove(rival.id);
    elites_.insert(entry.id, entry.score, point);
    return {archive_status::improved, entry.score - rival.score};
  }
  /// A kept candidate whose point did not change stays, whatever its new score: `improved` by the increase of
  /// its score, `rejected` if it did not increase. Otherwise the same as `add`.
  archive_result update(const archive_entry& entry) {
    const auto before = elites_.find(entry.id);
    if (!before) return add(entry);
    const auto point = space_.point(entry);
    if (!std::isfinite(entry.score) || point != elites_.point_of(entry.id)) return add(entry);
    elites_.remove(entry.id);
    elites_.insert(entry.id, entry.score, point);
    const double gain = entry.score - before->score;
    return gain > 0 ? archive_result{archive_status::improved, gain} : archive_result{};
  }
  bool remove(candidate_id id) { return elites_.remove(id); }
  archive_forecast forecast(const archive_entry& entry, candidate_id without) const {
    const auto point = space_.point(entry);
    if (!std::isfinite(entry.score) || point.empty()) return {true, false, {}};
    const auto [distance, place] = look(point, without, entry.id);
    if (distance >= threshold_) return {true, true, {}};
    if (!(entry.score > elites_.at(place).score)) return {true, false, {}};
    return {true, true, {elites_.at(place).id}};
  }
  std::vector<candidate_id> neighbours(candidate_id id, std::size_t count) const {
    return elites_.neighbours(id, count);
  }

  std::optional<elite> sample(rng& random) const { return elites_.sample(random); }
  std::size_t size() const { return elites_.size(); }
  elite at(std::size_t i) const { return elites_.at(i); }
  bool contains(candidate_id id) const { return elites_.find(id).has_value(); }
  candidate_id nth_best(std::size_t rank) const { return elites_.order().nth(rank); }
  double total_score() const { return elites_.order().total(); }
  candidate_id at_mass(double mass) const { return elites_.order().at_mass(mass); }
  std::vector<std::string> measures() const { return space_.measures(); }
  bool wants_source() const { return space_.wants_source(); }

 private:
  novelty(detail::point_space space, double threshold, std::size_t nearest)
      : space_(std::move(space)),
        threshold_(threshold),
        nearest_(std::max<std::size_t>(nearest, 1)),
        elites_(space_.dimensions()) {}

  struct seen {
    double novelty = INFINITY;  // stays so if the archive is empty
    std::size_t nearest = 0;    // index of the nearest elite; of equally near ones the older
  };
  /// The novelty and the nearest elite of a point, as if the two given candidates were not kept.
  seen look(std::span<const double> point, candidate_id without = no_candidate,
            candidate_id and_without = no_candidate) const {
    std::vector<std::pair<double, candidate_id>> away;
    seen result;
    std::pair<double, candidate_id> least{INFINITY, no_candidate};
    for (std::size_t i = 0; i < elites_.size(); ++i) {
      const candidate_id id = elites_.at(i).id;
      if (id == without || id == and_without) continue;
      away.emplace_back(std::sqrt(detail::squared_distance(elites_.point(i), point)), id);
      if (away.back() < least) least = away.back(), result.nearest = i;
    }
    if (away.empty()) return result;
    const std::size_t k = std::min(nearest_, away.size());
    std::nth_element(away.begin(), away.begin() + static_cast<std::ptrdiff_t>(k - 1), away.end());
    double sum = 0;
    for (std::size_t i = 0; i < k; ++i) sum += away[i].first;
    result.novelty = sum / static_cast<double>(k);
    return result;
  }

  detail::point_space space_;
  double threshold_;
  std::size_t nearest_;
  detail::point_elites elites_;
};

}  // namespace kevo
