// if (c) x = a; else x = b;  ->  x = c ? a : b;      if (c) x = a;  ->  x = c ? a : x;
#include "operators/rewrite/action.hpp"
#include "operators/rewrite/dependence.hpp"

namespace kevo::rewriting {
namespace {

const node* only_assignment(const kernel& of, const node& branch) {
  const auto all = statements_of(branch);
  if (all.size() != 1 || all.front()->kind != node_kind::binary || operator_of(of.in, *all.front()) != "=")
    return nullptr;
  return all.front();
}

bool fits(const kernel& of, const node& one) {
  if (one.kind != node_kind::branch || one.children.size() < 2 || one.children.size() > 3 ||
      one.children[0].kind == node_kind::variable || one.children[0].kind == node_kind::declaration)
    return false;
  const node* yes = only_assignment(of, one.children[1]);
  const node* no = one.children.size() == 3 ? only_assignment(of, one.children[2]) : nullptr;
  if (yes == nullptr || (one.children.size() == 3 && no == nullptr)) return false;
  if (has_effects_unknown(of.in, one)) return false;
  if (no != nullptr) return of.in.of(yes->children[0]) == of.in.of(no->children[0]);
  // An element that is not written otherwise may be none of this loop's business.
  return bare(yes->children[0]).kind == node_kind::name;
}

}  // namespace

std::vector<site> select_sites(const kernel& of) {
  std::vector<site> found;
  for (const auto& place : of.loops) {
    if (is_rest(place)) continue;
    walk(*place.loop.body, [&](const node& n) {
      if (loop_around(of, n) == &place && fits(of, n)) found.push_back({0, &n});
      return true;
    });
  }
  return found;
}

std::string select(const kernel& of, const site& where, rng&) {
  const node& one = *where.at;
  const node& yes = *only_assignment(of, one.children[1]);
  const std::string target(of.in.of(yes.children[0]));
  const std::string other = one.children.size() == 3
                                ? std::string(of.in.of(only_assignment(of, one.children[2])->children[1]))
                                : target;
  const auto part = [](const std::string& text) { return grouped(text); };
  changes all;
  all.replace(one.begin, end_of_statement(of.in, one),
              target + " = " + part(std::string(of.in.of(one.children[0]))) + " ? " +
                  part(std::string(of.in.of(yes.children[1]))) + " : " + part(other) + ";");
  return all.applied_to(of.in.text);
}

}  // namespace kevo::rewriting
