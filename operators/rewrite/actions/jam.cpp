// Unroll and jam, and several sums for one: the copies of widen.hpp.
#include "operators/rewrite/action.hpp"
#include "operators/rewrite/dependence.hpp"
#include "operators/rewrite/widen.hpp"

namespace kevo::rewriting {
namespace {

bool collects(const kernel& of, const placed_loop& which) {
  std::string why;
  const auto found = reductions_of(of.in, *which.function, *which.loop.body, why);
  return found && !found->empty();
}

bool is_widened(const placed_loop& which) {
  return which.loop.step.find("copies_") != std::string::npos;
}

}  // namespace

std::vector<site> jam_sites(const kernel& of) {
  std::vector<site> found;
  for (std::size_t i = 0; i < of.loops.size(); ++i) {
    const placed_loop& which = of.loops[i];
    if (is_short(of, which) || is_rest(which) || !has_long_loop_inside(of, which) || is_widened(which))
      continue;
    // Deep loops are run more often; a loop that is widened already is where the time goes.
    double depth = 1;
    for (const node* around : which.around) depth += around->kind == node_kind::counted ? 1 : 0;
    if (of.in.of(*which.loop.at).find("lanes_") == std::string_view::npos) depth /= 8;  // vectors come first
    found.push_back({i, nullptr, which.loop.whole_steps ? 2 * depth : depth});
  }
  return found;
}

std::vector<site> split_sites(const kernel& of) {
  std::vector<site> found;
  for (std::size_t i = 0; i < of.loops.size(); ++i) {
    const placed_loop& which = of.loops[i];
    if (is_short(of, which) || is_rest(which) || has_long_loop_inside(of, which) || is_widened(which) ||
        !collects(of, which))
      continue;
    // Several scalar sums stand in the way of vectors.
    found.push_back({i, nullptr, which.loop.whole_steps ? 4.0 : 0.2});
  }
  return found;
}

std::string jam(const kernel& of, const site& where, rng& random) {
  static constexpr int starts[] = {2, 4, 6, 8};
  const placed_loop& which = of.loops.at(where.loop);
  fresh_names fresh(of.in);
  widened_names names;
  names.count = fresh("copies_" + which.loop.index);
  names.copy = fresh(which.loop.index + "_copy");
  changes all;
  all.replace(which.loop, widened(of.in, which, widening::copies, names, {}, fresh));
  const std::size_t top = place_for_declarations(of.in);
  all.replace(top, top,
              tunable_line(names.count, starts[random.below(4)], "1, 2, 3, 4, 5, 6, 8, 10, 12, 16") + "\n");
  return all.applied_to(of.in.text);
}

}  // namespace kevo::rewriting
