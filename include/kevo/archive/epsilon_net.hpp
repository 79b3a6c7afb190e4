#pragma once
// An archive without cells whose elites are more than a given distance apart: the epsilon-net of POLCA.

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

/// Elites whose pairwise distance is greater than `epsilon`: POLCA's epsilon-net (arXiv 2603.14769), used
/// here as an archive, with the local competition of Lehman & Stanley's novelty archives (2011). A candidate
/// within `epsilon` of elites enters if it is better than all of them, and it displaces all of them.
/// Distances are Euclidean, either between embedded sources or between measures scaled to their ranges. POLCA
/// uses the first kind, with embeddings by a model; kevo's default embedding is computed locally from hashed
/// n-grams. The archive needs no bins, and it grows only where programs differ. `add` is O(elites).
class epsilon_net {
 public:
  /// An archive with distances between measures. `epsilon` is in units of the ranges; its default is kevo's
  /// choice. Throws kevo::error (input) for invalid ranges.
  explicit epsilon_net(std::vector<measure_range> ranges, double epsilon = 0.05)
      : space_(std::move(ranges)), epsilon_(epsilon), elites_(space_.dimensions()) {}
  /// An archive with distances between embedded sources. The default epsilon of 0.1 is POLCA's. Entries
  /// without a source are rejected. Throws kevo::error (input) for an embedding without dimensions or
  /// function.
  explicit epsilon_net(source_embedding embedding, double epsilon = 0.1)
      : space_(std::move(embedding)), epsilon_(epsilon), elites_(space_.dimensions()) {}

  /// Offers a candidate. If the result is `improved`, its value is the gain in score over the best displaced
  /// elite.
  archive_result add(const archive_entry& entry) {
    elites_.remove(entry.id);
    const auto point = space_.point(entry);
    if (!std::isfinite(entry.score) || point.empty()) return {};
    const auto near = near_to(point);
    double best = -INFINITY;
    for (const candidate_id id : near) best = std::max(best, elites_.find(id)->score);
    if (!(entry.score > best)) return {};
    for (const candidate_id id : near) elites_.remove(id);
    elites_.insert(entry.id, entry.score, point);
    if (near.empty()) return {archive_status::new_cell, entry.score};
    return {archive_status::improved, entry.score - best};
  }
  /// Changes the score and the point of a kept candidate. If its score increased, the result is `improved` by
  /// the increase. Otherwise it is `rejected`, but the candidate is still kept unless an elite near its new
  /// point is at least as good. A candidate that is not kept is offered.
  archive_result update(const archive_entry& entry) {
    const auto before = elites_.find(entry.id);
    const archive_result result = add(entry);
    if (!before || result.status == archive_status::rejected) return result;
    const double gain = entry.score - before->score;
    return gain > 0 ? archive_result{archive_status::improved, gain} : archive_result{};
  }
  bool remove(candidate_id id) { return elites_.remove(id); }
  archive_forecast forecast(const archive_entry& entry, candidate_id without) const {
    const auto point = space_.point(entry);
    if (!std::isfinite(entry.score) || point.empty()) return {true, false, {}};
    archive_forecast result{true, true, near_to(point)};
    std::erase_if(result.displaced, [&](candidate_id id) { return id == without || id == entry.id; });
    for (const candidate_id id : result.displaced) {
      if (!(entry.score > elites_.find(id)->score)) return {true, false, {}};
    }
    return result;
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
  /// The point of the elite with index i: its measures in units of the ranges, or its embedding.
  std::span<const double> point(std::size_t i) const { return elites_.point(i); }

  /// The Euclidean distance of two points.
  static double distance(std::span<const double> a, std::span<const double> b) {
    return std::sqrt(detail::squared_distance(a, b));
  }

 private:
  /// The elites within `epsilon_` of a point.
  std::vector<candidate_id> near_to(std::span<const double> point) const {
    std::vector<candidate_id> near;
    for (std::size_t i = 0; i < elites_.size() && !point.empty(); ++i) {
      if (distance(elites_.point(i), point) <= epsilon_) near.push_back(elites_.at(i).id);
    }
    return near;
  }

  detail::point_space space_;
  double epsilon_;
  detail::point_elites elites_;
};

}  // namespace kevo
