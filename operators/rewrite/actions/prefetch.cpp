// for i { ... a[i] ... }  ->  for i { __builtin_prefetch(a + i + ahead); ... a[i] ... }
#include "operators/rewrite/action.hpp"
#include "operators/rewrite/dependence.hpp"

namespace kevo::rewriting {
namespace {

const element_access* streamed(const placed_loop& which, const std::vector<element_access>& all) {
  const std::string index = which.loop.index + "#" + std::to_string(which.loop.id);
  for (const auto& one : all) {
    if (one.written || bare(one.at->children[0]).kind != node_kind::name ||
        bare(one.at->children[0]).type.back() != '*')
      continue;
    const auto own = declared_in(*which.loop.body);
    const bool known = !any_of(one.at->children[1], [&](const node& n) {
      return n.kind == node_kind::name && own.contains(n.declared);
    });
    const auto factor = coefficient(one.index, index);
    if (known && factor && !factor->empty()) return &one;
  }
  return nullptr;
}

}  // namespace

std::vector<site> prefetch_sites(const kernel& of) {
  std::vector<site> found;
  for (std::size_t i = 0; i < of.loops.size(); ++i) {
    const placed_loop& which = of.loops[i];
    if (is_short(of, which) || is_rest(which) || has_long_loop_inside(of, which)) continue;
    if (of.in.of(*which.loop.body).find("__builtin_prefetch") != std::string_view::npos) continue;
    const auto all = accesses_in(of.in, *which.loop.body, definitions_of(of.in, *which.function));
    if (streamed(which, all) != nullptr) found.push_back({i});
  }
  return found;
}

std::string prefetch(const kernel& of, const site& where, rng& random) {
  const placed_loop& which = of.loops.at(where.loop);
  const auto accesses = accesses_in(of.in, *which.loop.body, definitions_of(of.in, *which.function));
  const element_access* one = streamed(which, accesses);
  if (one == nullptr) throw refusal{"nothing is read in order"};
  fresh_names fresh(of.in);
  const std::string distance = fresh("ahead_" + which.loop.index);
  replacements later;
  later.names[which.loop.id] = "(" + which.loop.index + " + " + distance + ")";
  lines to(depth_at(of.in, which.loop.at->begin));
  open_loop(to, of.in, which.loop);
  to.add("__builtin_prefetch(" + written(of.in, one->at->children[0]) + " + (" +
         written(of.in, one->at->children[1], later) + "));  // an address only: it may lie behind the end");
  for (const node* statement : statements_of(*which.loop.body)) add_statement(to, of.in, *statement);
  to.close();
  changes all;
  all.replace(which.loop, to);
  const std::size_t top = place_for_declarations(of.in);
  all.replace(top, top, tunable_line(distance, 16 << random.below(3), "4, 8, 16, 32, 64, 128, 256") + "\n");
  return all.applied_to(of.in.text);
}

}  // namespace kevo::rewriting
