// for i { a } for i { b }  ->  for i { a { b } }
#include "operators/rewrite/actions/loop_parts.hpp"

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
  const std::string why = conflict_of_parts(of, *which.function, first, which.loop, second, *next);
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

}  // namespace kevo::rewriting
