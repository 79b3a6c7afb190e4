#include "operators/rewrite/actions/loop_parts.hpp"

#include <algorithm>
#include <set>

namespace kevo::rewriting {
namespace {

polynomial renamed(const polynomial& one, const std::string& from, const std::string& to) {
  polynomial result;
  for (const auto& [product, factor] : one) {
    std::vector<std::string> other = product;
    for (auto& name : other) {
      if (name == from) name = to;
    }
    std::sort(other.begin(), other.end());
    result[other] += factor;
  }
  return result;
}

std::string index_variable(const counted_loop& loop) {
  return loop.index + "#" + std::to_string(loop.id);
}

}  // namespace

std::string conflict_of_parts(const kernel& of, const node& function, const std::vector<const node*>& first,
                              const counted_loop& first_loop, const std::vector<const node*>& second,
                              const counted_loop& second_loop) {
  const std::string index = index_variable(first_loop);
  const auto known = definitions_of(of.in, function);
  std::set<long> assigned[2];
  std::vector<element_access> accesses[2];
  for (int side = 0; side < 2; ++side) {
    for (const node* part : side == 0 ? first : second) {
      if (has_effects_unknown(of.in, *part)) return "a part does what is not understood";
      for (auto& one : accesses_in(of.in, *part, known)) accesses[side].push_back(std::move(one));
      walk(*part, [&](const node& n) {
        if (assigns(of.in, n) && bare(n.children[0]).kind == node_kind::name)
          assigned[side].insert(bare(n.children[0]).declared);
        if (n.kind == node_kind::variable) assigned[side].insert(n.declared);
        return true;
      });
    }
  }
  for (int side = 0; side < 2; ++side) {
    for (const node* part : side == 0 ? second : first) {
      for (const long id : assigned[side]) {
        if (mentions(*part, id)) return "a part needs a variable of the other one";
      }
    }
  }
  for (const auto& a : accesses[0]) {
    for (const auto& b : accesses[1]) {
      if (a.base != b.base || (!a.written && !b.written)) continue;
      const auto factor = coefficient(a.index, index);
      if (!factor || factor->empty() || a.index != renamed(b.index, index_variable(second_loop), index))
        return "a part needs what the other one writes";
    }
  }
  return {};
}

}  // namespace kevo::rewriting
