#pragma once
// Makes the search graph usable with Boost.Graph: with this header, `kevo::search_graph` models a vertex list
// graph, an edge list graph and a bidirectional graph, so that `boost::topological_sort`,
// `boost::breadth_first_search` and `boost::write_graphviz` accept it directly. Vertices are candidate ids,
// which are also the vertex indices. Boost.Graph takes a second to compile, so kevo.hpp does not include this
// header.

#include <cstddef>
#include <utility>

#include <boost/graph/graph_traits.hpp>
#include <boost/graph/properties.hpp>
#include <boost/iterator/counting_iterator.hpp>
#include <boost/iterator/iterator_facade.hpp>
#include <boost/property_map/property_map.hpp>

#include <kevo/search_graph.hpp>

namespace kevo {

/// An edge from a parent to a child, as the algorithms of Boost.Graph see it.
struct graph_edge {
  candidate_id parent = no_candidate;
  candidate_id child = no_candidate;
  friend bool operator==(const graph_edge&, const graph_edge&) = default;
};

/// Iterates over the edges from a candidate to its children, newest first. Valid until the graph grows.
class out_edge_iterator
    : public boost::iterator_facade<out_edge_iterator, graph_edge, boost::forward_traversal_tag, graph_edge> {
 public:
  /// The end of the edges of any candidate.
  out_edge_iterator() = default;
  /// An iterator at the edge `at`; the next ones are those to older children. The graph must outlive it.
  out_edge_iterator(const search_graph& graph, search_graph::edge_index at) : graph_(&graph), at_(at) {}

 private:
  friend class boost::iterator_core_access;
  graph_edge dereference() const {
    const auto& e = graph_->edges()[at_];
    return {e.parent, e.child};
  }
  bool equal(const out_edge_iterator& other) const { return at_ == other.at_; }
  void increment() { at_ = graph_->edges()[at_].older; }

  const search_graph* graph_ = nullptr;
  search_graph::edge_index at_ = search_graph::no_edge;
};

/// Iterates over edges that are contiguous in memory: all edges of the graph, or the edges to one candidate.
/// Valid until the graph grows.
class edge_run_iterator : public boost::iterator_facade<edge_run_iterator, graph_edge,
                                                        boost::random_access_traversal_tag, graph_edge> {
 public:
  edge_run_iterator() = default;
  /// An iterator at an element of `search_graph::edges()`.
  explicit edge_run_iterator(const search_graph::edge* at) : at_(at) {}

 private:
  friend class boost::iterator_core_access;
  graph_edge dereference() const { return {at_->parent, at_->child}; }
  bool equal(const edge_run_iterator& other) const { return at_ == other.at_; }
  void increment() { ++at_; }
  void decrement() { --at_; }
  void advance(std::ptrdiff_t steps) { at_ += steps; }
  std::ptrdiff_t distance_to(const edge_run_iterator& other) const { return other.at_ - at_; }

  const search_graph::edge* at_ = nullptr;
};

/// The traversal category of a search graph: the concepts of Boost.Graph that it models.
struct search_graph_traversal : boost::vertex_list_graph_tag,
                                boost::edge_list_graph_tag,
                                boost::bidirectional_graph_tag {};

}  // namespace kevo

/// @cond
template <>
struct boost::graph_traits<kevo::search_graph> {
  using vertex_descriptor = kevo::candidate_id;
  using edge_descriptor = kevo::graph_edge;
  using directed_category = boost::bidirectional_tag;
  using edge_parallel_category = boost::disallow_parallel_edge_tag;
  using traversal_category = kevo::search_graph_traversal;
  using vertex_iterator = boost::counting_iterator<kevo::candidate_id>;
  using edge_iterator = kevo::edge_run_iterator;
  using in_edge_iterator = kevo::edge_run_iterator;
  using out_edge_iterator = kevo::out_edge_iterator;
  using vertices_size_type = std::size_t;
  using edges_size_type = std::size_t;
  using degree_size_type = std::size_t;
  static vertex_descriptor null_vertex() { return kevo::no_candidate; }
};

template <>
struct boost::property_map<kevo::search_graph, boost::vertex_index_t> {
  using type = boost::typed_identity_property_map<kevo::candidate_id>;
  using const_type = type;
};
/// @endcond

// The algorithms of Boost.Graph find these functions by argument-dependent lookup. All are O(1).
namespace kevo {

/// The candidate at which an edge begins: the parent.
inline candidate_id source(const graph_edge& e, const search_graph&) {
  return e.parent;
}
/// The candidate at which an edge ends: the child.
inline candidate_id target(const graph_edge& e, const search_graph&) {
  return e.child;
}
/// The number of candidates.
inline std::size_t num_vertices(const search_graph& g) {
  return g.size();
}
/// The number of edges from parents to children.
inline std::size_t num_edges(const search_graph& g) {
  return g.edges().size();
}
/// The number of children of a candidate.
inline std::size_t out_degree(candidate_id id, const search_graph& g) {
  return g.children_count(id);
}
/// The number of parents of a candidate.
inline std::size_t in_degree(candidate_id id, const search_graph& g) {
  return g.parents_count(id);
}
/// The number of parents and children of a candidate.
inline std::size_t degree(candidate_id id, const search_graph& g) {
  return in_degree(id, g) + out_degree(id, g);
}

/// All candidates, in order of their ids: a pair of begin and end iterators, as Boost.Graph expects it. The
/// other ranges have the same form.
inline auto vertices(const search_graph& g) {
  using iterator = boost::counting_iterator<candidate_id>;
  return std::pair(iterator(0), iterator(static_cast<candidate_id>(g.size())));
}
/// All edges, in the order in which they were added.
inline auto edges(const search_graph& g) {
  const auto all = g.edges();
  return std::pair(edge_run_iterator(all.data()), edge_run_iterator(all.data() + all.size()));
}
/// The edges from the parents of a candidate.
inline auto in_edges(candidate_id id, const search_graph& g) {
  const auto above = g.edges_to(id);
  return std::pair(edge_run_iterator(above.data()), edge_run_iterator(above.data() + above.size()));
}
/// The edges to the children of a candidate, newest first.
inline auto out_edges(candidate_id id, const search_graph& g) {
  return std::pair(out_edge_iterator(g, g.newest_edge_from(id)), out_edge_iterator());
}
/// The index of a vertex, which is the candidate id itself.
inline boost::typed_identity_property_map<candidate_id> get(boost::vertex_index_t, const search_graph&) {
  return {};
}

}  // namespace kevo
