#pragma once
// The elites nearest to another one, found by a scan over all of them.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include <kevo/archive.hpp>

namespace kevo::detail {

inline double squared_distance(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += (a[k] - b[k]) * (a[k] - b[k]);
  return sum;
}

/// At most `count` elites other than `id`, in rising order of `distance(i)`, where i is the index of an
/// elite; of equally near ones the older first. Elites at infinite distance are omitted. O(elites).
template <class Elites, class Distance>
std::vector<candidate_id> nearest_elites(const Elites& kept, candidate_id id, std::size_t count,
                                         Distance distance) {
  std::vector<std::pair<double, candidate_id>> near;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const double away = distance(i);
    if (kept.at(i).id != id && std::isfinite(away)) near.emplace_back(away, kept.at(i).id);
  }
  const std::size_t n = std::min(count, near.size());
  std::partial_sort(near.begin(), near.begin() + static_cast<std::ptrdiff_t>(n), near.end());
  std::vector<candidate_id> result;
  for (std::size_t i = 0; i < n; ++i) result.push_back(near[i].second);
  return result;
}

}  // namespace kevo::detail
