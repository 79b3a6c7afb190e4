#pragma once
// The search graph: who came from whom. A directed acyclic graph of candidates on Boost.Graph, and the index
// that finds a program again. Scores are the population's, niches the archive's, sources the store's.
// Boost.Graph costs a second and a half to compile: only what owns a graph should include this header, and
// selectors see it through `kinship` (population.hpp).

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include <boost/graph/adjacency_list.hpp>
#include <boost/unordered/unordered_flat_map.hpp>

#include <kevo/candidate.hpp>
#include <kevo/content_id.hpp>
#include <kevo/error.hpp>

namespace kevo {

/// Lineage of all candidates of a run. Vertex descriptors of the graph are candidate ids, and every edge
/// leads from a parent to a younger child, so the graph cannot have cycles and ascending ids are a
/// topological order. It only grows. A value; not thread-safe. About 200 bytes a candidate with one parent,
/// at 10^6.
class search_graph {
 public:
  /// What a vertex knows of its candidate.
  struct vertex {
    content_id program;
    std::uint32_t depth = 0;
    operator_index made_by = seed_operator;
  };
  /// An edge from parent to child: `order` is the place of the parent among the child's parents, 0 the first.
  struct edge {
    std::uint16_t order = 0;
  };
  /// Edges are kept in a vector too: half the memory of the default list, and nothing is ever removed.
  using graph_type = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS, vertex, edge,
                                           boost::no_property, boost::vecS>;

  /// Appends a candidate; its id is the number of candidates before it. Parents count once each, in order.
  /// Amortized O(parents). Throws kevo::error (usage) if the program is known (that is an event, not a
  /// vertex) or a parent is not.
  candidate_id add(const content_id& program, operator_index made_by,
                   std::span<const candidate_id> parents = {}) {
    const auto id = static_cast<candidate_id>(size());
    std::uint32_t depth = 0;
    for (const candidate_id parent : parents) {
      if (parent >= id) throw error(error_code::usage, "a parent must be in the search graph already");
      depth = std::max(depth, graph_[parent].depth + 1);
    }
    if (!index_.emplace(program, id).second) {
      throw error(error_code::usage, "program " + to_string(program) + " is in the search graph already");
    }
    boost::add_vertex(vertex{program, depth, made_by}, graph_);
    for (std::size_t i = 0; i < parents.size(); ++i) {
      const auto before = parents.first(i);
      if (std::find(before.begin(), before.end(), parents[i]) != before.end()) continue;
      boost::add_edge(parents[i], id, edge{static_cast<std::uint16_t>(in_degree(id))}, graph_);
    }
    return id;
  }

  /// The candidate of a program, if it has one. O(1).
  std::optional<candidate_id> find(const content_id& program) const {
    const auto it = index_.find(program);
    if (it == index_.end()) return std::nullopt;
    return it->second;
  }

  std::size_t size() const { return boost::num_vertices(graph_); }
  const content_id& program_of(candidate_id id) const { return graph_[id].program; }
  operator_index made_by(candidate_id id) const { return graph_[id].made_by; }
  /// Edges on the longest way from a seed; 0 for seeds. O(1).
  std::size_t depth(candidate_id id) const { return graph_[id].depth; }

  /// In the order in which the operator was given them.
  std::vector<candidate_id> parents(candidate_id id) const {
    std::vector<candidate_id> result;
    const auto [first, last] = boost::in_edges(id, graph_);
    for (auto it = first; it != last; ++it) result.push_back(parent_of(*it));
    return result;
  }

  /// Oldest first.
  std::vector<candidate_id> children(candidate_id id) const {
    std::vector<candidate_id> result;
    const auto [first, last] = boost::out_edges(id, graph_);
    result.reserve(static_cast<std::size_t>(last - first));
    for (auto it = first; it != last; ++it) result.push_back(child_of(*it));
    return result;
  }
  std::size_t children_count(candidate_id id) const { return boost::out_degree(id, graph_); }

  /// Other children of its parents, newest first, at most `limit`. O(parents * limit).
  std::vector<candidate_id> siblings(candidate_id id, std::size_t limit) const {
    std::vector<candidate_id> result;
    const auto [first_parent, last_parent] = boost::in_edges(id, graph_);
    for (auto parent = first_parent; parent != last_parent; ++parent) {
      auto [first, last] = boost::out_edges(boost::source(*parent, graph_), graph_);
      for (std::size_t taken = 0; last != first && taken < limit;) {
        const candidate_id child = child_of(*--last);
        if (child != id) result.push_back(child), ++taken;
      }
    }
    std::sort(result.begin(), result.end(), std::greater<>());
    result.erase(std::unique(result.begin(), result.end()), result.end());
    if (result.size() > limit) result.resize(limit);
    return result;
  }

  /// The candidate itself, its first parent, that one's first parent, ...: at most `limit`, newest first.
  std::vector<candidate_id> lineage(candidate_id id, std::size_t limit) const {
    std::vector<candidate_id> result;
    while (result.size() < limit) {
      result.push_back(id);
      const auto [first, last] = boost::in_edges(id, graph_);
      if (first == last) break;
      id = parent_of(*first);
    }
    return result;
  }

  /// All ancestors, each once, newest first. O(a log a) for the number of edges above it.
  std::vector<candidate_id> ancestors(candidate_id id) const {
    std::vector<candidate_id> result;
    std::priority_queue<candidate_id> waiting;
    const auto climb = [&](candidate_id from) {
      for (const candidate_id parent : parents(from)) waiting.push(parent);
    };
    climb(id);
    while (!waiting.empty()) {
      const candidate_id next = waiting.top();
      waiting.pop();
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

  /// The graph itself, for Boost.Graph's algorithms and `boost::write_graphviz`.
  const graph_type& graph() const { return graph_; }

 private:
  std::size_t in_degree(candidate_id id) const { return boost::in_degree(id, graph_); }
  candidate_id parent_of(const graph_type::edge_descriptor& e) const {
    return static_cast<candidate_id>(boost::source(e, graph_));
  }
  candidate_id child_of(const graph_type::edge_descriptor& e) const {
    return static_cast<candidate_id>(boost::target(e, graph_));
  }

  graph_type graph_;
  boost::unordered_flat_map<content_id, candidate_id, std::hash<content_id>> index_;
};

}  // namespace kevo
