// What does not change in a loop is computed before it: calls as they are, and divisors as reciprocals.
#include "operators/rewrite/action.hpp"
#include "operators/rewrite/dependence.hpp"

namespace kevo::rewriting {
namespace {

bool is_real(const std::string& type) {
  return type == "float" || type == "double" || type == "const float" || type == "const double";
}

bool is_constant(const node& one) {
  return !any_of(one, [](const node& n) { return n.kind == node_kind::name; });
}

template <class Wanted>
std::vector<site> sites_of(const kernel& of, Wanted wanted) {
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

// The loop that is the furthest out of those in which the expression does not change.
const placed_loop* loop_to_leave(const kernel& of, const node& expression) {
  const placed_loop* found = nullptr;
  for (const auto& place : of.loops) {  // from the outside to the inside
    const bool around = place.loop.body->begin <= expression.begin && expression.end <= place.loop.body->end;
    if (around && found == nullptr && is_invariant(of, expression, place.loop)) found = &place;
  }
  return found;
}

}  // namespace

std::vector<site> hoist_sites(const kernel& of) {
  return sites_of(of, [&](const placed_loop& place, const node& n) {
    const bool costly = n.kind == node_kind::call && is_pure(n.name) && n.name != "size" && n.name != "data";
    return costly && is_real(n.type) && !is_constant(n) && is_invariant(of, n, place.loop);
  });
}

std::string hoist(const kernel& of, const site& where, rng&) {
  const node& one = *where.at;
  const placed_loop* from = loop_to_leave(of, one);
  if (from == nullptr) throw refusal{"it changes in the loop"};
  fresh_names fresh(of.in);
  const std::string name = fresh("constant_" + one.name);
  changes all;
  put_before(all, of, *from, "const auto " + name + " = " + std::string(of.in.of(one)) + ";");
  all.replace(one.begin, one.end, name);
  return all.applied_to(of.in.text);
}

std::vector<site> reciprocal_sites(const kernel& of) {
  return sites_of(of, [&](const placed_loop& place, const node& n) {
    if (n.kind != node_kind::binary || operator_of(of.in, n) != "/") return false;
    const node& divisor = n.children[1];
    return is_real(divisor.type) && !is_constant(divisor) && is_invariant(of, divisor, place.loop);
  });
}

std::string reciprocal(const kernel& of, const site& where, rng&) {
  const node& one = *where.at;
  const node& divisor = one.children[1];
  const placed_loop* from = loop_to_leave(of, divisor);
  if (from == nullptr) throw refusal{"the divisor changes in the loop"};
  fresh_names fresh(of.in);
  const std::string name = fresh("reciprocal");
  const std::string type = divisor.type.find("double") != std::string::npos ? "double" : "float";
  changes all;
  put_before(all, of, *from,
             "const " + type + " " + name + " = 1 / " + grouped(std::string(of.in.of(divisor))) + ";");
  all.replace(one.children[0].end, one.end, " * " + name);
  return all.applied_to(of.in.text);
}

}  // namespace kevo::rewriting
