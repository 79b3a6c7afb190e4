// for i { for j { body } }  ->  for blocks of j { for i { for j in the block { body } } }
#include "operators/rewrite/action.hpp"
#include "operators/rewrite/dependence.hpp"

namespace kevo::rewriting {

std::vector<site> tile_sites(const kernel& of) {
  std::vector<site> found;
  for (std::size_t i = 0; i < of.loops.size(); ++i) {
    if (is_short(of, of.loops[i]) || is_rest(of.loops[i])) continue;
    const auto inner = only_loop_in(of, of.loops[i].loop);
    // A block of a block is left to the sizes of the first one.
    if (inner && inner->trips(of.in).value_or(1000) > 64 && inner->upper.find("tile_") == std::string::npos)
      found.push_back({i});
  }
  return found;
}

std::string tile(const kernel& of, const site& where, rng& random) {
  const placed_loop& place = of.loops.at(where.loop);
  const auto inner = only_loop_in(of, place.loop);
  if (!inner || inner->inclusive) throw refusal{"the loop contains more than a loop"};
  if (has_effects_unknown(of.in, *place.loop.body)) throw refusal{"the loop does what is not understood"};
  std::string why;
  if (!reductions_of(of.in, *place.function, *inner->body, why)) throw refusal{why};
  const auto known = definitions_of(of.in, *place.function);
  for (const auto* loop : {&place.loop, &*inner}) {
    why = carried_by_arrays(of.in, *loop, known);
    if (!why.empty()) throw refusal{why};
  }
  fresh_names fresh(of.in);
  const std::string size = fresh("tile_" + inner->index);
  const std::string block = fresh(inner->index + "_block");
  const std::string step = times(inner->step, size);
  lines to(depth_at(of.in, place.loop.at->begin));
  to.open("for (" + inner->type + " " + block + " = " + inner->lower + "; " + block + " < " + inner->upper +
          "; " + block + " += " + step + ")");
  open_loop(to, of.in, place.loop);
  replacements by;
  by.nodes[inner->lower_node] = block;
  by.nodes[inner->upper_node] = "(" + block + " + " + step + " < " + inner->upper + " ? " + block + " + " +
                                step + " : " + inner->upper + ")";
  open_loop(to, of.in, *inner, by);
  for (const node* one : statements_of(*inner->body)) add_statement(to, of.in, *one);
  to.close();
  to.close();
  to.close();
  changes all;
  all.replace(place.loop, to);
  const std::size_t top = place_for_declarations(of.in);
  all.replace(top, top,
              tunable_line(size, 32 << random.below(3), "8, 16, 32, 48, 64, 96, 128, 192, 256, 512") + "\n");
  return all.applied_to(of.in.text);
}

}  // namespace kevo::rewriting
