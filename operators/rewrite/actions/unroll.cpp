// #pragma GCC unroll in front of an innermost loop
#include "operators/rewrite/action.hpp"

namespace kevo::rewriting {

std::vector<site> unroll_sites(const kernel& of) {
  std::vector<site> found;
  for (std::size_t i = 0; i < of.loops.size(); ++i) {
    const placed_loop& which = of.loops[i];
    if (is_short(of, which) || is_rest(which) || has_long_loop_inside(of, which)) continue;
    const std::string_view before =
        std::string_view(of.in.text).substr(which.loop.begin, which.loop.at->begin - which.loop.begin);
    // Nothing may stand between a directive of OpenMP and its loop.
    if (before.find("unroll") == std::string_view::npos &&
        before.find("#pragma omp") == std::string_view::npos)
      found.push_back({i});
  }
  return found;
}

std::string unroll(const kernel& of, const site& where, rng& random) {
  const counted_loop& loop = of.loops.at(where.loop).loop;
  fresh_names fresh(of.in);
  const std::string name = fresh("unroll_" + loop.index);
  lines to(depth_at(of.in, loop.at->begin));
  to.add((of.cuda ? "#pragma unroll " : "#pragma GCC unroll ") + name);
  open_loop(to, of.in, loop);
  for (const node* one : statements_of(*loop.body)) add_statement(to, of.in, *one);
  to.close();
  changes all;
  all.replace(loop, to);
  const std::size_t top = place_for_declarations(of.in);
  all.replace(top, top, tunable_line(name, 2 << random.below(2), "1, 2, 4, 8") + "\n");
  return all.applied_to(of.in.text);
}

}  // namespace kevo::rewriting
