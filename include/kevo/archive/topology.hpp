#pragma once
// Topologies of islands: which island sends migrants to which.

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <kevo/error.hpp>

namespace kevo {

/// A directed graph of islands, whose edges are the routes of migrants. A value type. Construction for n
/// islands is O(n) for a ring and O(n^3) for a full graph, because each new edge is compared with the
/// existing edges of its island.
class topology {
 public:
  /// A graph without edges: no migration.
  explicit topology(std::size_t islands = 0) : destinations_(islands) {}

  /// A ring: each island sends to both neighbours (OpenEvolve, Kernel-Smith).
  static topology ring(std::size_t islands) {
    topology made(islands);
    for (std::size_t i = 0; i < islands; ++i) {
      made.connect(i, (i + 1) % islands);
      made.connect((i + 1) % islands, i);
    }
    return made;
  }
  /// A complete graph: each island sends to all others.
  static topology full(std::size_t islands) {
    topology made(islands);
    for (std::size_t a = 0; a < islands; ++a) {
      for (std::size_t b = 0; b < islands; ++b) made.connect(a, b);
    }
    return made;
  }
  /// A graph with the given edges (from, to). Throws kevo::error (input) for an island that does not exist.
  static topology from_edges(std::size_t islands,
                             std::span<const std::pair<std::size_t, std::size_t>> edges) {
    topology made(islands);
    for (const auto& [from, to] : edges) {
      if (from >= islands || to >= islands) {
        throw error(error_code::input, "an edge goes from island " + std::to_string(from) + " to " +
                                           std::to_string(to) + ", but there are " + std::to_string(islands) +
                                           " islands");
      }
      made.connect(from, to);
    }
    return made;
  }

  /// The number of islands.
  std::size_t size() const { return destinations_.size(); }
  /// The islands to which an island sends migrants, in the order in which the edges were added.
  const std::vector<std::size_t>& neighbours(std::size_t island) const { return destinations_[island]; }
  /// Adds an island with edges to and from `anchor`, and returns its number.
  std::size_t grow(std::size_t anchor) {
    const std::size_t added = destinations_.size();
    destinations_.emplace_back();
    connect(anchor, added);
    connect(added, anchor);
    return added;
  }

 private:
  /// Adds an edge, unless it exists or leads from an island to itself.
  void connect(std::size_t from, std::size_t to) {
    auto& known = destinations_[from];
    if (from != to && std::find(known.begin(), known.end(), to) == known.end()) known.push_back(to);
  }

  std::vector<std::vector<std::size_t>> destinations_;  // for each island, the islands to which it sends
};

}  // namespace kevo
