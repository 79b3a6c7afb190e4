// for i { for j { body } }  ->  for j { for i { body } }
#include "operators/rewrite/action.hpp"
#include "operators/rewrite/dependence.hpp"

namespace kevo::rewriting {
std::vector<site> interchange_sites(const kernel& of) {
  std::vector<site> found;
  for (std::size_t i = 0; i < of.loops.size(); ++i) {
    if (is_short(of, of.loops[i]) || is_rest(of.loops[i])) continue;
    const auto inner = only_loop_in(of, of.loops[i].loop);
    if (inner && inner->trips(of.in).value_or(1000) > 64) found.push_back({i});
  }
  return found;
}

std::string interchange(const kernel& of, const site& where, rng&) {
  const placed_loop& place = of.loops.at(where.loop);
  const auto inner = only_loop_in(of, place.loop);
  if (!inner) throw refusal{"the loop contains more than a loop"};
  if (has_effects_unknown(of.in, *place.loop.body)) throw refusal{"the loop does what is not understood"};
  std::string why;
  if (!reductions_of(of.in, *place.function, *inner->body, why)) throw refusal{why};
  const auto known = definitions_of(of.in, *place.function);
  for (const auto* loop : {&place.loop, &*inner}) {
    why = carried_by_arrays(of.in, *loop, known);
    if (!why.empty()) throw refusal{why};
  }
  lines to(depth_at(of.in, place.loop.at->begin));
  open_loop(to, of.in, *inner);
  open_loop(to, of.in, place.loop);
  for (const node* one : statements_of(*inner->body)) add_statement(to, of.in, *one);
  to.close();
  to.close();
  changes all;
  all.replace(place.loop, to);
  return all.applied_to(of.in.text);
}

}  // namespace kevo::rewriting
