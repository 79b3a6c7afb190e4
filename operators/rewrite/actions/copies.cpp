#include "operators/rewrite/actions/copies.hpp"

#include "operators/rewrite/widen.hpp"

namespace kevo::rewriting {

bool has_copies(const placed_loop& which) {
  return which.loop.step.find("copies_") != std::string::npos;
}

std::string with_copies(const kernel& of, const site& where, rng& random) {
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
