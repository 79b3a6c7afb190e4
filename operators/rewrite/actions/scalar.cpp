// for k { C[i] += ...; }  ->  float c = C[i]; for k { c += ...; } C[i] = c;
#include "operators/rewrite/action.hpp"
#include "operators/rewrite/dependence.hpp"

namespace kevo::rewriting {
namespace {

// Accesses to an array of which the loop uses one element alone.
const element_access* fixed_element(const kernel& of, const placed_loop& which,
                                    const std::vector<element_access>& all) {
  for (const auto& one : all) {
    if (!one.written || bare(one.at->children[0]).kind != node_kind::name) continue;
    const auto own = declared_in(*which.loop.body);
    const bool fixed = !any_of(one.at->children[1], [&](const node& n) {
      return n.kind == node_kind::name && (n.declared == which.loop.id || own.contains(n.declared));
    });
    bool alone = fixed && !has_effects_unknown(of.in, *which.loop.body);
    for (const auto& other : all)
      alone = alone && (other.base != one.base || of.in.of(*other.at) == of.in.of(*one.at));
    // A vector is more than its first element.
    alone = alone && vector_place_around(*which.loop.body, *one.at) == nullptr;
    // Nor is the array used in another way.
    int uses = 0;
    for (const auto& other : all) uses += other.base == one.base ? 1 : 0;
    if (alone && uses == count_of(*which.loop.body, one.base)) return &one;
  }
  return nullptr;
}

}  // namespace

std::vector<site> scalar_sites(const kernel& of) {
  std::vector<site> found;
  for (std::size_t i = 0; i < of.loops.size(); ++i) {
    if (is_short(of, of.loops[i]) || is_rest(of.loops[i])) continue;
    const auto all = accesses_in(of.in, *of.loops[i].loop.body, definitions_of(of.in, *of.loops[i].function));
    if (fixed_element(of, of.loops[i], all) != nullptr) found.push_back({i});
  }
  return found;
}

std::string scalar(const kernel& of, const site& where, rng&) {
  const placed_loop& which = of.loops.at(where.loop);
  const auto accesses = accesses_in(of.in, *which.loop.body, definitions_of(of.in, *which.function));
  const element_access* one = fixed_element(of, which, accesses);
  if (one == nullptr) throw refusal{"no element stays the same"};
  fresh_names fresh(of.in);
  const std::string name = fresh("element_of_" + root_of(*one->at)->name);
  replacements by;
  for (const auto& other : accesses) {
    if (other.base == one->base) by.nodes[other.at] = name;
  }
  const std::string element(of.in.of(*one->at));
  lines to(depth_at(of.in, which.loop.at->begin));
  to.open("");
  std::string type = one->at->type;
  if (type.find_first_of("*&[(_") != std::string::npos) throw refusal{"the type of " + element};
  to.add(type + " " + name + " = " + element + ";");
  open_loop(to, of.in, which.loop);
  for (const node* statement : statements_of(*which.loop.body)) add_statement(to, of.in, *statement, by);
  to.close();
  to.add(element + " = " + name + ";");
  to.close();
  changes all;
  all.replace(which.loop, to);
  return all.applied_to(of.in.text);
}

}  // namespace kevo::rewriting
