#pragma once
// An archive without cells that keeps what is far from everything kept: novelty search with local competition
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
/// archive): the novelty of a candidate is its mean distance to its `nearest` k elites; at least `threshold`
/// and it joins, less and it must beat the elite nearest to it, whose place it takes. Distances as in
/// `epsilon_net`. k = 15 is theirs; the threshold, in units of the ranges, is kevo's choice. O(elites) an
/// insertion.
class novelty {
 public:
  /// An archive with distances between measures. Throws kevo::error (input) for invalid ranges.
  explicit novelty(std::vector<measure_range> ranges, double threshold = 0.05, std::size_t nearest = 15)
      : novelty(detail::point_space(std::move(ranges)), threshold, nearest) {}
  /// An archive with distances between embedded sources. Entries without a source are rejected.
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
  /// A kept candidate whose coordinates did not change stays, whatever its new score; the value is the
  /// increase of its score. Otherwise the same as `add`.
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
    double novelty = INFINITY;  // of an empty archive
    std::size_t nearest = 0;    // of equally near ones the older
  };
  /// As if two candidates were not kept.
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
