// What a loop reads of an array is copied before it into the order in which it is read, or into an order in
// which the values for neighbouring iterations of one loop lie side by side.
#include <algorithm>
#include <set>

#include "operators/rewrite/action.hpp"
#include "operators/rewrite/dependence.hpp"

namespace kevo::rewriting {
namespace {

struct packing {
  const node* access = nullptr;
  const node* vector =
      nullptr;  // the call of at_... that reads several elements from this one on, if there is one
  std::vector<const placed_loop*> over;  // loops on which the subscript depends, from the outside
};

bool contains(const counted_loop& outer, const node& one) {
  return outer.at->begin <= one.begin && one.end <= outer.at->end;
}

// What could be packed before `region`.
std::vector<packing> packings_of(const kernel& of, const placed_loop& region) {
  std::vector<packing> found;
  std::set<std::string> seen;
  const auto known = definitions_of(of.in, *region.function);
  const auto inside = declared_in(*region.loop.at);
  for (const auto& access : accesses_in(of.in, *region.loop.at, known)) {
    const node& base = bare(access.at->children[0]);
    if (base.kind != node_kind::name || base.type.substr(0, 6) != "const " || base.type.back() != '*')
      continue;
    if (!seen.insert(std::string(of.in.of(*access.at))).second) continue;
    packing one{access.at, vector_place_around(*region.loop.at, *access.at), {}};
    bool good = true;
    for (const auto& place : of.loops) {
      if (!contains(region.loop, *place.loop.at) || !contains(place.loop, *access.at) ||
          !mentions(access.at->children[1], place.loop.id))
        continue;
      one.over.push_back(&place);
      good = good && place.loop.step == "1" && !place.loop.inclusive && !place.loop.whole_steps;
      for (const node* bound : {place.loop.lower_node, place.loop.upper_node}) {
        good = good && !any_of(*bound, [&](const node& n) {
                 return inside.contains(n.declared) || n.kind == node_kind::subscript;
               });
      }
    }
    good = good && !any_of(access.at->children[1], [&](const node& n) {
             bool index = false;
             for (const auto* place : one.over) index = index || place->loop.id == n.declared;
             return n.kind == node_kind::subscript ||
                    (n.kind == node_kind::name && inside.contains(n.declared) && !index);
           });
    if (good && one.over.size() >= (one.vector != nullptr ? 1 : 2) && one.over.size() <= 6)
      found.push_back(std::move(one));
  }
  return found;
}

std::string extent(const counted_loop& loop) {
  return loop.lower == "0" ? grouped(loop.upper) : "(" + loop.upper + " - " + grouped(loop.lower) + ")";
}
std::string position(const counted_loop& loop) {
  return loop.lower == "0" ? loop.index : "(" + loop.index + " - " + grouped(loop.lower) + ")";
}

}  // namespace

std::vector<site> pack_sites(const kernel& of) {
  std::vector<site> found;
  for (std::size_t i = 0; i < of.loops.size(); ++i) {
    if (is_short(of, of.loops[i]) || is_rest(of.loops[i])) continue;
    for (const auto& one : packings_of(of, of.loops[i])) {
      (void)one;
      found.push_back({i, nullptr, 1.0 / static_cast<double>(of.loops[i].around.size())});
    }
  }
  return found;
}

std::string pack(const kernel& of, const site& where, rng& random) {
  const placed_loop& region = of.loops.at(where.loop);
  const auto all_packings = packings_of(of, region);
  if (all_packings.empty()) throw refusal{"nothing to pack"};
  packing one = all_packings[random.below(all_packings.size())];
  // One of the loops becomes the innermost of the new order.
  const std::size_t chosen = random.below(one.over.size());
  std::rotate(one.over.begin() + static_cast<std::ptrdiff_t>(chosen),
              one.over.begin() + static_cast<std::ptrdiff_t>(chosen) + 1, one.over.end());
  fresh_names fresh(of.in);
  const node& base = bare(one.access->children[0]);
  const std::string name = fresh(base.name + "_packed");
  std::string type = base.type.substr(6);
  while (type.back() == '*' || type.back() == ' ') type.pop_back();
  std::string index;
  std::string size;
  for (const auto* place : one.over) {
    if (!index.empty()) {
      if (index.find(' ') != std::string::npos) index.insert(0, "(").append(")");
      index.append(" * ").append(extent(place->loop)).append(" + ");
      size.append(" * ");
    }
    index += position(place->loop);
    size += extent(place->loop);
  }
  const std::string access(of.in.of(*one.access));
  // Vectors stay whole: they are the innermost of the new order.
  const std::string width = one.vector != nullptr ? fresh("width_of_" + base.name) : "1";
  const std::string first = one.vector == nullptr ? index : "(" + index + ") * " + width;
  lines to(depth_at(of.in, region.loop.at->begin));
  to.open("");
  if (one.vector != nullptr)
    to.add("constexpr int " + width + " = sizeof(" + one.vector->name + "(*" + base.name + ")) / sizeof(" +
           type + ");");
  to.add(type + "* const " + name + " = static_cast<" + type + "*>(__builtin_malloc(sizeof(" + type +
         ") * static_cast<unsigned long>(" + times(width, size) + ")));");
  for (const auto* place : one.over) {
    to.open("for (" + place->loop.type + " " + place->loop.index + " = " + place->loop.lower + "; " +
            place->loop.index + " < " + place->loop.upper + "; ++" + place->loop.index + ")");
  }
  if (one.vector == nullptr) {
    to.add(name + "[" + index + "] = " + access + ";");
  } else {
    const std::string lane = fresh("lane");
    to.add("for (int " + lane + " = 0; " + lane + " < " + width + "; ++" + lane + ") " + name + "[" + first +
           " + " + lane + "] = (&" + access + ")[" + lane + "];");
  }
  for (std::size_t i = 0; i < one.over.size(); ++i) to.close();
  replacements by;
  walk(*region.loop.at, [&](const node& n) {
    if (n.kind == node_kind::subscript && of.in.of(n) == access) {
      bool same = true;
      for (const auto* place : one.over) same = same && contains(place->loop, n);
      if (!same) return true;
      const node* vector = vector_place_around(*region.loop.at, n);
      if ((vector == nullptr) != (one.vector == nullptr) ||
          (vector != nullptr && vector->name != one.vector->name))
        throw refusal{"an element is read alone and as a part of a vector"};
      by.nodes[&n] = name + "[" + first + "]";
    }
    return true;
  });
  open_loop(to, of.in, region.loop);
  for (const node* statement : statements_of(*region.loop.body)) add_statement(to, of.in, *statement, by);
  to.close();
  to.add("__builtin_free(" + name + ");");
  to.close();
  changes all;
  all.replace(region.loop, to);
  return all.applied_to(of.in.text);
}

}  // namespace kevo::rewriting
