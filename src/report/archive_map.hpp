#pragma once
// The content of an archive as a picture needs it: niches by their coordinates, whatever the container is.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <kevo/archive.hpp>

namespace kevo {

/// One measure that a grid bins by. `edges` has bins + 1 values; the outer bins also hold what lies beyond.
struct archive_map_axis {
  std::string name;
  std::vector<double> edges;
  bool log = false;

  std::size_t bins() const { return edges.empty() ? 0 : edges.size() - 1; }
};

/// A kept candidate. `bins` are its coordinates on the axes (empty if the container has none); the
/// number of an axis' bins stands for a measure that is not known.
struct archive_map_cell {
  candidate_id candidate = no_candidate;
  double score = 0;
  std::uint64_t cell = 0;
  std::vector<std::size_t> bins;
  std::string niche;  ///< in words; may be empty
};

/// All that is kept, the best first. `axes` is empty for containers without a grid.
struct archive_map {
  std::vector<archive_map_axis> axes;
  std::vector<archive_map_cell> kept;
  std::size_t cells = 0;  ///< how many niches there are; 0 if not bounded

  bool is_plane() const { return axes.size() == 2 && axes[0].bins() > 0 && axes[1].bins() > 0; }
};

/// Reads an archive. O(n log n) in the number of elites.
archive_map map_of(const any_archive& archive);

}  // namespace kevo
