// for i { ... std::sqrt(x) ... }  ->  const auto constant_sqrt = std::sqrt(x); for i { ... constant_sqrt ...
// }
#include "operators/rewrite/actions/invariants.hpp"
#include "operators/rewrite/dependence.hpp"

namespace kevo::rewriting {

std::vector<site> hoist_sites(const kernel& of) {
  return sites_in_loops(of, [&](const placed_loop& place, const node& n) {
    const bool costly = n.kind == node_kind::call && is_pure(n.name) && n.name != "size" && n.name != "data";
    return costly && is_real_invariant(of, n, place);
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

}  // namespace kevo::rewriting
