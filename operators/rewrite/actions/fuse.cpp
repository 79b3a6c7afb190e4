// Two neighbouring loops with the same header become one, and one loop becomes two.
#include <algorithm>
#include <set>

#include "operators/rewrite/action.hpp"
#include "operators/rewrite/dependence.hpp"

namespace kevo::rewriting {
namespace {

// The loop behind another one in its block, if it has the same header but for the name of the index.
std::optional<counted_loop> neighbour(const kernel& of, const placed_loop& which) {
  if (which.around.empty() || which.around.back()->kind != node_kind::block) return std::nullopt;
  const auto& all = which.around.back()->children;
  for (std::size_t i = 0; i + 1 < all.size(); ++i) {
    if (&all[i] != which.loop.at) continue;
    auto next = as_counted(of.in, all[i + 1]);
    if (next && next->lower == which.loop.lower && next->upper == which.loop.upper &&
        next->step == which.loop.step && next->whole_steps == which.loop.whole_steps &&
        next->inclusive == which.loop.inclusive && next->type == which.loop.type)
      return next;
  }
  return std::nullopt;
}

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

// Whether the parts may run in turns, iteration by iteration: what one writes and the other one uses must be
// the element of the same iteration.
std::string conflict(const kernel& of, const node& function, const std::vector<const node*>& first,
                     const std::string& index, const std::vector<const node*>& second,
                     const std::string& other_index) {
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
      if (!factor || factor->empty() || a.index != renamed(b.index, other_index, index))
        return "a part needs what the other one writes";
    }
  }
  return {};
}

std::string variable(const counted_loop& loop) {
  return loop.index + "#" + std::to_string(loop.id);
}

}  // namespace

std::vector<site> fuse_sites(const kernel& of) {
  std::vector<site> found;
  for (std::size_t i = 0; i < of.loops.size(); ++i) {
    if (!is_short(of, of.loops[i]) && neighbour(of, of.loops[i])) found.push_back({i});
  }
  return found;
}

std::string fuse(const kernel& of, const site& where, rng&) {
  const placed_loop& which = of.loops.at(where.loop);
  const auto next = neighbour(of, which);
  if (!next) throw refusal{"no neighbour"};
  const auto first = statements_of(*which.loop.body);
  const auto second = statements_of(*next->body);
  const std::string why = conflict(of, *which.function, first, variable(which.loop), second, variable(*next));
  if (!why.empty()) throw refusal{why};
  lines to(depth_at(of.in, which.loop.at->begin));
  open_loop(to, of.in, which.loop);
  for (const node* one : first) add_statement(to, of.in, *one);
  to.open("");
  replacements by;
  by.names[next->id] = which.loop.index;
  for (const node* one : second) add_statement(to, of.in, *one, by);
  to.close();
  to.close();
  counted_loop both = which.loop;
  both.end = next->end;
  changes all;
  all.replace(both, to);
  return all.applied_to(of.in.text);
}

std::vector<site> distribute_sites(const kernel& of) {
  std::vector<site> found;
  for (std::size_t i = 0; i < of.loops.size(); ++i) {
    if (!is_short(of, of.loops[i]) && !is_rest(of.loops[i]) &&
        statements_of(*of.loops[i].loop.body).size() > 1)
      found.push_back({i});
  }
  return found;
}

std::string distribute(const kernel& of, const site& where, rng& random) {
  const placed_loop& which = of.loops.at(where.loop);
  const auto all_statements = statements_of(*which.loop.body);
  if (all_statements.size() < 2) throw refusal{"one statement"};
  const auto at = static_cast<std::ptrdiff_t>(1 + random.below(all_statements.size() - 1));
  const std::vector<const node*> first(all_statements.begin(), all_statements.begin() + at);
  const std::vector<const node*> second(all_statements.begin() + at, all_statements.end());
  const std::string why =
      conflict(of, *which.function, first, variable(which.loop), second, variable(which.loop));
  if (!why.empty()) throw refusal{why};
  lines to(depth_at(of.in, which.loop.at->begin));
  for (const auto* part : {&first, &second}) {
    open_loop(to, of.in, which.loop);
    for (const node* one : *part) add_statement(to, of.in, *one);
    to.close();
  }
  changes all;
  all.replace(which.loop, to);
  return all.applied_to(of.in.text);
}

}  // namespace kevo::rewriting
