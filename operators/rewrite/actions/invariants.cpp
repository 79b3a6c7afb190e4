#include "operators/rewrite/actions/invariants.hpp"

namespace kevo::rewriting {
namespace {

bool is_real(const std::string& type) {
  return type == "float" || type == "double" || type == "const float" || type == "const double";
}

bool is_constant(const node& one) {
  return !any_of(one, [](const node& n) { return n.kind == node_kind::name; });
}

}  // namespace

std::vector<site> sites_in_loops(const kernel& of,
                                 const std::function<bool(const placed_loop&, const node&)>& wanted) {
  std::vector<site> found;
  for (const auto& place : of.loops) {
    if (is_rest(place)) continue;
    walk(*place.loop.body, [&](const node& n) {
      if (loop_around(of, n) == &place && wanted(place, n)) found.push_back({0, &n});
      return true;
    });
  }
  return found;
}

bool is_real_invariant(const kernel& of, const node& expression, const placed_loop& place) {
  return is_real(expression.type) && !is_constant(expression) && is_invariant(of, expression, place.loop);
}

const placed_loop* loop_to_leave(const kernel& of, const node& expression) {
  const placed_loop* found = nullptr;
  for (const auto& place : of.loops) {  // from the outside to the inside
    const bool around = place.loop.body->begin <= expression.begin && expression.end <= place.loop.body->end;
    if (around && found == nullptr && is_invariant(of, expression, place.loop)) found = &place;
  }
  return found;
}

}  // namespace kevo::rewriting
