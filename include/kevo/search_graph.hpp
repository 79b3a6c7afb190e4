#pragma once
// The search graph: a directed acyclic graph of candidates with edges from parents to children, and an index
// that finds the candidate of a program. Scores are in the population, niches in the archive, sources in the
// store. The graph only grows, so it needs no general graph container, whose header would cost every
// translation unit a second; boost_graph.hpp makes it usable with the algorithms of Boost.Graph.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include <kevo/candidate.hpp>
#include <kevo/content_id.hpp>
#include <kevo/error.hpp>

namespace kevo {

/// The lineage of all candidates of a run. Every edge leads from a parent to a child with a greater id, so
/// the graph cannot have cycles, and ascending candidate ids are a topological order. The graph only grows. A
/// value type; not thread-safe. With 10^6 candidates of one parent each, it takes about 100 bytes per
/// candidate.
class search_graph {
 public:
  /// The number of an edge. Edges are numbered from 0 in the order in which they were added.
  using edge_index = std::uint32_t;
  /// The value that means "no edge".
  static constexpr edge_index no_edge = std::numeric_limits<edge_index>::max();

  /// An edge from a parent to a child. `older` is the previous edge from the same parent; `no_edge` if there
  /// is none.
  struct edge {
    candidate_id parent = no_candidate;
    candidate_id child = no_candidate;
    edge_index older = no_edge;
  };

  /// Appends a candidate and returns its id, which is the number of candidates before it. A parent that is
  /// given several times gets one edge; the order of the parents is kept. Amortized O(parents), for few
  /// parents.
  /// @throws kevo::error (usage) if the program is in the graph already, or a parent is not
  candidate_id add(const content_id& program, operator_index made_by,
                   std::span<const candidate_id> parents = {}) {
    const auto id = static_cast<candidate_id>(size());
    std::uint32_t depth = 0;
    for (const candidate_id parent : parents) {
      if (parent >= id) throw error(error_code::usage, "a parent must be in the search graph already");
      depth = std::max(depth, vertices_[parent].depth + 1);
    }
    if (find(program)) {
      throw error(error_code::usage, "program " + to_string(program) + " is in the search graph already");
    }
    vertices_.push_back({program, depth, static_cast<edge_index>(edges_.size()), no_edge, 0, made_by});
    for (std::size_t i = 0; i < parents.size(); ++i) {
      const auto before = parents.first(i);
      if (std::find(before.begin(), before.end(), parents[i]) == before.end()) connect(parents[i], id);
    }
    enter(id);
    return id;
  }

  /// The candidate of a program; nothing if the program is not in the graph. O(1) on average.
  std::optional<candidate_id> find(const content_id& program) const {
    if (places_.empty()) return std::nullopt;
    const candidate_id found = places_[place_of(program)];
    if (found == no_candidate) return std::nullopt;
    return found;
  }

  /// The number of candidates.
  std::size_t size() const { return vertices_.size(); }
  /// The content id of a candidate's program. As in all functions below, the candidate must exist.
  const content_id& program_of(candidate_id id) const { return vertices_[id].program; }
  /// The operator that made a candidate; `seed_operator` for seeds.
  operator_index made_by(candidate_id id) const { return vertices_[id].made_by; }
  /// The number of edges on the longest path from a seed; 0 for seeds. O(1).
  std::size_t depth(candidate_id id) const { return vertices_[id].depth; }

  /// The parents, in the order in which the operator received them.
  std::vector<candidate_id> parents(candidate_id id) const {
    std::vector<candidate_id> result;
    for (const edge& e : edges_to(id)) result.push_back(e.parent);
    return result;
  }
  /// The number of parents. O(1).
  std::size_t parents_count(candidate_id id) const { return edges_to(id).size(); }

  /// The children, oldest first.
  std::vector<candidate_id> children(candidate_id id) const {
    std::vector<candidate_id> result(children_count(id));
    std::size_t left = result.size();
    for (edge_index e = newest_edge_from(id); e != no_edge; e = edges_[e].older)
      result[--left] = edges_[e].child;
    return result;
  }
  /// The number of children. O(1).
  std::size_t children_count(candidate_id id) const { return vertices_[id].children; }
  /// The children, newest first, at most `limit`. O(limit).
  std::vector<candidate_id> newest_children(candidate_id id, std::size_t limit) const {
    std::vector<candidate_id> result;
    for (edge_index e = newest_edge_from(id); e != no_edge && result.size() < limit; e = edges_[e].older)
      result.push_back(edges_[e].child);
    return result;
  }

  /// The other children of its parents, newest first, at most `limit`. O(n log n) for n = parents * limit.
  std::vector<candidate_id> siblings(candidate_id id, std::size_t limit) const {
    std::vector<candidate_id> result;
    for (const edge& up : edges_to(id)) {
      std::size_t taken = 0;
      for (edge_index e = newest_edge_from(up.parent); e != no_edge && taken < limit; e = edges_[e].older) {
        if (edges_[e].child != id) result.push_back(edges_[e].child), ++taken;
      }
    }
    std::sort(result.begin(), result.end());
    std::reverse(result.begin(), result.end());
    result.erase(std::unique(result.begin(), result.end()), result.end());
    if (result.size() > limit) result.resize(limit);
    return result;
  }

  /// The candidate itself, its first parent, the first parent of that parent and so on: newest first, at most
  /// `limit`.
  std::vector<candidate_id> lineage(candidate_id id, std::size_t limit) const {
    std::vector<candidate_id> result;
    while (result.size() < limit) {
      result.push_back(id);
      const auto above = edges_to(id);
      if (above.empty()) break;
      id = above.front().parent;
    }
    return result;
  }

  /// All ancestors, each once, newest first. O(a log a), where a is the number of edges to the candidate and
  /// its ancestors.
  std::vector<candidate_id> ancestors(candidate_id id) const {
    std::vector<candidate_id> result;
    std::vector<candidate_id> waiting;  // a heap with the newest candidate at the front
    const auto climb = [&](candidate_id from) {
      for (const edge& e : edges_to(from)) {
        waiting.push_back(e.parent);
        std::push_heap(waiting.begin(), waiting.end());
      }
    };
    climb(id);
    while (!waiting.empty()) {
      std::pop_heap(waiting.begin(), waiting.end());
      const candidate_id next = waiting.back();
      waiting.pop_back();
      if (!result.empty() && result.back() == next) continue;
      result.push_back(next);
      climb(next);
    }
    return result;
  }

  /// Candidates without children, oldest first. O(size).
  std::vector<candidate_id> frontier() const {
    std::vector<candidate_id> result;
    for (candidate_id id = 0; id < size(); ++id) {
      if (children_count(id) == 0) result.push_back(id);
    }
    return result;
  }

  /// All edges, in the order of their numbers. The view is valid until the next `add`.
  std::span<const edge> edges() const { return edges_; }
  /// The edges from the parents of a candidate, in the order of `parents`. The view is valid until the next
  /// `add`.
  std::span<const edge> edges_to(candidate_id id) const {
    const std::size_t first = vertices_[id].first_edge;
    const std::size_t last =
        id + std::size_t{1} < size() ? vertices_[id + std::size_t{1}].first_edge : edges_.size();
    return edges().subspan(first, last - first);
  }
  /// The edge to the newest child of a candidate; `older` leads from it to the edges to the other children.
  /// `no_edge` if there are no children.
  edge_index newest_edge_from(candidate_id id) const { return vertices_[id].newest_edge; }

 private:
  struct vertex {
    content_id program;
    std::uint32_t depth = 0;
    edge_index first_edge =
        0;  // the edges from its parents are contiguous, because `add` appends them together
    edge_index newest_edge = no_edge;
    std::uint32_t children = 0;
    operator_index made_by = seed_operator;
  };

  void connect(candidate_id parent, candidate_id child) {
    vertex& above = vertices_[parent];
    edges_.push_back({parent, child, above.newest_edge});
    above.newest_edge = static_cast<edge_index>(edges_.size() - 1);
    ++above.children;
  }

  // The index of programs is a hash table of candidate ids with linear probing, at most half full.
  std::size_t place_of(const content_id& program) const {
    const std::size_t mask = places_.size() - 1;
    std::size_t place = std::hash<content_id>()(program) & mask;
    while (places_[place] != no_candidate && vertices_[places_[place]].program != program)
      place = (place + 1) & mask;
    return place;
  }
  void enter(candidate_id id) {
    if (2 * size() > places_.size()) {
      places_.assign(std::max<std::size_t>(16, 2 * places_.size()), no_candidate);
      for (candidate_id old = 0; old < id; ++old) places_[place_of(vertices_[old].program)] = old;
    }
    places_[place_of(vertices_[id].program)] = id;
  }

  std::vector<vertex> vertices_;
  std::vector<edge> edges_;
  std::vector<candidate_id> places_;
};

}  // namespace kevo
