#pragma once
// Nothing twice: elites that lie apart.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <kevo/archive.hpp>
#include <kevo/archive/measure_range.hpp>
#include <kevo/detail/point_elites.hpp>

namespace kevo {

/// Elites whose pairwise distance is greater than `epsilon` (POLCA's epsilon-net, arXiv 2603.14769, here as
/// an archive over measures, with the local competition of Lehman & Stanley's novelty archives, 2011): a
/// candidate near others enters if it is better than all of them, and displaces them. Distances are Euclidean
/// over the ranges. Needs no bins, and grows only where programs differ. O(elites) an insertion.
class epsilon_net {
 public:
  /// Throws kevo::error (input) for bad ranges.
  explicit epsilon_net(std::vector<measure_range> ranges, double epsilon = 0.05)
      : ranges_(std::move(ranges)), epsilon_(epsilon), elites_(ranges_.size()) {
    check(ranges_);
  }

  /// improved: by the gain over the best that was displaced.
  archive_result add(const archive_entry& entry) {
    if (!std::isfinite(entry.score)) return {};
    elites_.remove(entry.id);
    const auto point = unit_point(ranges_, entry.measures);
    std::vector<candidate_id> near;
    double best = -INFINITY;
    for (std::size_t i = 0; i < elites_.size(); ++i) {
      if (distance(elites_.point(i), point) > epsilon_) continue;
      near.push_back(elites_.at(i).id);
      best = std::max(best, elites_.at(i).score);
    }
    if (!(entry.score > best)) return {};
    for (const candidate_id id : near) elites_.remove(id);
    elites_.insert(entry.id, entry.score, point);
    if (near.empty()) return {archive_status::new_cell, entry.score};
    return {archive_status::improved, entry.score - best};
  }
  /// improved by what a kept one rose, rejected if it did not or if a better one is near its new measures.
  archive_result update(const archive_entry& entry) {
    const auto before = elites_.find(entry.id);
    const archive_result result = add(entry);
    if (!before || result.status == archive_status::rejected) return result;
    const double gain = entry.score - before->score;
    return gain > 0 ? archive_result{archive_status::improved, gain} : archive_result{};
  }
  bool remove(candidate_id id) { return elites_.remove(id); }

  std::optional<elite> sample(rng& random) const { return elites_.sample(random); }
  std::size_t size() const { return elites_.size(); }
  elite at(std::size_t i) const { return elites_.at(i); }
  bool contains(candidate_id id) const { return elites_.find(id).has_value(); }
  candidate_id nth_best(std::size_t rank) const { return elites_.order().nth(rank); }
  double total_score() const { return elites_.order().total(); }
  candidate_id at_mass(double mass) const { return elites_.order().at_mass(mass); }
  std::vector<std::string> measures() const {
    std::vector<std::string> names;
    for (const measure_range& r : ranges_) names.push_back(r.measure);
    return names;
  }
  /// Where an elite lies, in units of the ranges.
  std::span<const double> point(std::size_t i) const { return elites_.point(i); }

  static double distance(std::span<const double> a, std::span<const double> b) {
    double sum = 0;
    for (std::size_t k = 0; k < a.size(); ++k) sum += (a[k] - b[k]) * (a[k] - b[k]);
    return std::sqrt(sum);
  }

 private:
  std::vector<measure_range> ranges_;
  double epsilon_;
  detail::point_elites elites_;
};

}  // namespace kevo
