#include "src/report/archive_map.hpp"

#include <algorithm>

#include <kevo/archive/grid.hpp>

namespace kevo {

archive_map map_of(const any_archive& archive) {
  archive_map result;
  if (!archive) return result;
  result.cells = archive.cells();
  const auto* cells = archive.as<grid>();
  if (cells != nullptr) {
    for (const auto& axis : cells->axes()) {
      archive_map_axis shown{axis.measure, {}, axis.scale == axis_scale::log};
      for (std::size_t i = 0; i <= axis.bins; ++i) shown.edges.push_back(axis.edge(i));
      result.axes.push_back(std::move(shown));
    }
  }
  result.kept.reserve(archive.size());
  for (std::size_t i = 0; i < archive.size(); ++i) {
    const elite kept = archive.at(i);
    result.kept.push_back({kept.id, kept.score, kept.cell,
                           cells == nullptr ? std::vector<std::size_t>() : cells->bins_of(kept.cell),
                           archive.describe(kept)});
  }
  std::stable_sort(result.kept.begin(), result.kept.end(),
                   [](const auto& a, const auto& b) { return a.score > b.score; });
  return result;
}

}  // namespace kevo
