// for i { for j { a } }  ->  for i by 4 { for j { a for i; a for i + 1; ... } }: unroll and jam
#include "operators/rewrite/actions/copies.hpp"

namespace kevo::rewriting {

std::vector<site> jam_sites(const kernel& of) {
  std::vector<site> found;
  for (std::size_t i = 0; i < of.loops.size(); ++i) {
    const placed_loop& which = of.loops[i];
    if (is_short(of, which) || is_rest(which) || !has_long_loop_inside(of, which) || has_copies(which))
      continue;
    // Deep loops are run more often; a loop that is widened already is where the time goes.
    double depth = 1;
    for (const node* around : which.around) depth += around->kind == node_kind::counted ? 1 : 0;
    if (of.in.of(*which.loop.at).find("lanes_") == std::string_view::npos) depth /= 8;  // vectors come first
    found.push_back({i, nullptr, which.loop.whole_steps ? 2 * depth : depth});
  }
  return found;
}

std::string jam(const kernel& of, const site& where, rng& random) {
  return with_copies(of, where, random);
}

}  // namespace kevo::rewriting
