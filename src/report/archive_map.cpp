#include "src/report/archive_map.hpp"

#include <algorithm>

namespace kevo {

archive_map map_of(const any_archive& archive) {
  archive_map result;
  if (!archive) return result;
  result.cells = archive.cells();
  result.kept.reserve(archive.size());
  for (std::size_t i = 0; i < archive.size(); ++i) {
    const elite kept = archive.at(i);
    result.kept.push_back({kept.id, kept.score, kept.cell, {}, archive.describe(kept)});
  }
  std::stable_sort(result.kept.begin(), result.kept.end(),
                   [](const auto& a, const auto& b) { return a.score > b.score; });
  return result;
}

}  // namespace kevo
