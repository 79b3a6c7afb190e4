// for i { ... y / x ... }  ->  const float reciprocal = 1 / x; for i { ... y * reciprocal ... }
#include "operators/rewrite/actions/invariants.hpp"

namespace kevo::rewriting {

std::vector<site> reciprocal_sites(const kernel& of) {
  return sites_in_loops(of, [&](const placed_loop& place, const node& n) {
    if (n.kind != node_kind::binary || operator_of(of.in, n) != "/") return false;
    return is_real_invariant(of, n.children[1], place);
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
