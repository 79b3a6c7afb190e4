#pragma once
// An archive whose number of cells does not depend on the number of measures: CVT-MAP-Elites (Vassiliades et
// al., 2018).

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <kevo/archive.hpp>
#include <kevo/archive/measure_range.hpp>
#include <kevo/detail/cell_elites.hpp>
#include <kevo/detail/kd_tree.hpp>
#include <kevo/detail/nearest_elites.hpp>

namespace kevo {

/// CVT-MAP-Elites (Vassiliades, Chatzilygeroudis & Mouret, "Using centroidal Voronoi tessellations to scale
/// up the multidimensional archive of phenotypic elites", IEEE TEVC 22(4), 2018). The cells are the Voronoi
/// cells of `cells` centroids in the unit cube. Lloyd's algorithm places the centroids, with
/// `samples_per_cell` * `cells` uniform samples and `rounds` iterations; the same seed gives the same
/// centroids. All candidates with an unknown measure share one further cell.
///
/// `add` is O(log cells) in few dimensions, plus O(log elites) after the first rank query. `sample`, `at` and
/// the rank queries cost the same as those of `grid`. Construction is O(samples_per_cell * cells * rounds *
/// log cells) in few dimensions: 0.1 s for 1000 cells.
class cvt {
 public:
  /// Throws kevo::error (input) for invalid ranges, an invalid soft threshold, or 0 cells.
  explicit cvt(std::vector<measure_range> ranges, std::size_t cells = 1000, std::uint64_t seed = 1,
               soft_threshold soft = {}, std::size_t samples_per_cell = 25, std::size_t rounds = 8)
      : ranges_(std::move(ranges)), elites_(cells + 1, soft) {
    check(soft);
    check(ranges_);
    if (cells == 0) throw error(error_code::input, "an archive needs at least one cell");
    rng random(seed);
    const auto cloud = [&](std::size_t n) {
      std::vector<double> points(n * ranges_.size());
      for (double& x : points) x = random.uniform();
      return points;
    };
    const std::vector<double> samples = cloud(cells * std::max<std::size_t>(samples_per_cell, 1));
    centroids_ = detail::kd_tree(cloud(cells), ranges_.size());
    for (std::size_t round = 0; round < rounds; ++round) relax(samples);
  }

  archive_result add(const archive_entry& entry) {
    return elites_.add(entry.id, entry.score, cell_of(entry.measures));
  }
  archive_result update(const archive_entry& entry) {
    return elites_.update(entry.id, entry.score, cell_of(entry.measures));
  }
  bool remove(candidate_id id) { return elites_.remove(id); }
  archive_forecast forecast(const archive_entry& entry, candidate_id without) const {
    return elites_.forecast(entry.score, cell_of(entry.measures), without);
  }
  /// At most `count` elites of other cells, nearest first by the distance between centroids; empty for a
  /// candidate with an unknown measure. O(elites).
  std::vector<candidate_id> neighbours(candidate_id id, std::size_t count) const {
    const auto here = elites_.find(id);
    if (!here || here->cell >= cells()) return {};
    return detail::nearest_elites(elites_, id, count, [&](std::size_t i) {
      const std::uint64_t cell = elites_.at(i).cell;
      return cell < cells() ? detail::squared_distance(centroid(here->cell), centroid(cell)) : INFINITY;
    });
  }

  std::optional<elite> sample(rng& random) const { return elites_.sample(random); }
  std::size_t size() const { return elites_.size(); }
  elite at(std::size_t i) const { return elites_.at(i); }
  bool contains(candidate_id id) const { return elites_.contains(id); }
  candidate_id nth_best(std::size_t rank) const { return elites_.order().nth(rank); }
  double total_score() const { return elites_.order().total(); }
  candidate_id at_mass(double mass) const { return elites_.order().at_mass(mass); }

  std::vector<std::string> measures() const {
    std::vector<std::string> names;
    for (const measure_range& r : ranges_) names.push_back(r.measure);
    return names;
  }
  /// The number of cells, without the further cell for unknown measures.
  std::size_t cells() const { return centroids_.size(); }
  /// The cell with the nearest centroid, or `cells()` if a measure is unknown.
  std::uint64_t cell_of(std::span<const double> measures) const {
    const auto point = unit_point(ranges_, measures);
    if (std::find(point.begin(), point.end(), -1.0) != point.end()) return cells();
    return centroids_.nearest(point);
  }
  /// The centroid of a cell, in the unit cube.
  std::span<const double> centroid(std::size_t cell) const { return centroids_.point(cell); }

 private:
  /// One round of Lloyd's algorithm: every centroid moves to the mean of the samples that are nearest to it.
  void relax(const std::vector<double>& samples) {
    const std::size_t d = ranges_.size(), n = centroids_.size();
    std::vector<double> sums(n * d);
    std::vector<std::size_t> counts(n);
    for (std::size_t i = 0; i < samples.size(); i += d) {
      const std::size_t cell = centroids_.nearest({&samples[i], d});
      ++counts[cell];
      for (std::size_t k = 0; k < d; ++k) sums[cell * d + k] += samples[i + k];
    }
    for (std::size_t cell = 0; cell < n; ++cell) {
      for (std::size_t k = 0; k < d; ++k) {
        sums[cell * d + k] = counts[cell] > 0 ? sums[cell * d + k] / static_cast<double>(counts[cell])
                                              : centroids_.point(cell)[k];
      }
    }
    centroids_ = detail::kd_tree(std::move(sums), d);
  }

  std::vector<measure_range> ranges_;
  detail::kd_tree centroids_;
  detail::cell_elites elites_;
};

}  // namespace kevo
