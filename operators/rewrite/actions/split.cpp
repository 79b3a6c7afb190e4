// for k { sum += a[k]; }  ->  for k by 4 { part[0] += a[k]; part[1] += a[k + 1]; ... } sum += part[0]; ...
#include "operators/rewrite/actions/copies.hpp"
#include "operators/rewrite/dependence.hpp"

namespace kevo::rewriting {
namespace {

bool collects(const kernel& of, const placed_loop& which) {
  std::string why;
  const auto found = reductions_of(of.in, *which.function, *which.loop.body, why);
  return found && !found->empty();
}

}  // namespace

std::vector<site> split_sites(const kernel& of) {
  std::vector<site> found;
  for (std::size_t i = 0; i < of.loops.size(); ++i) {
    const placed_loop& which = of.loops[i];
    if (is_short(of, which) || is_rest(which) || has_long_loop_inside(of, which) || has_copies(which) ||
        !collects(of, which))
      continue;
    // Several scalar sums stand in the way of vectors.
    found.push_back({i, nullptr, which.loop.whole_steps ? 4.0 : 0.2});
  }
  return found;
}

std::string split(const kernel& of, const site& where, rng& random) {
  return with_copies(of, where, random);
}

}  // namespace kevo::rewriting
