// A loop in which threads walk through arrays side by side takes four elements at once where they lie on a
// border of 16 bytes.
#include <map>
#include <set>

#include "operators/rewrite/cuda/threads.hpp"
#include "operators/rewrite/dependence.hpp"

namespace kevo::rewriting {
namespace {

bool is_float_array(const element_access& access) {
  const node& base = bare(access.at->children[0]);
  const std::string type = access.at->type;
  return base.kind == node_kind::name && base.type.find('*') != std::string::npos &&
         (type == "float" || type == "const float");
}

// Loops whose step is a number of threads: neighbouring threads have neighbouring iterations.
bool is_strided(const kernel& of, const placed_loop& place) {
  const counted_loop& loop = place.loop;
  const std::string_view lower = of.in.of(*loop.lower_node);
  return loop.step_node != nullptr && loop.step != "1" && !loop.inclusive && !loop.whole_steps &&
         (lower == "threadIdx.x" || bare(*loop.lower_node).kind == node_kind::name ||
          (lower.find("threadIdx.x") != std::string_view::npos &&
           lower.find("blockIdx.x") != std::string_view::npos)) &&
         loop.step.find("copies_") == std::string::npos && loop.step.find("wide_") == std::string::npos;
}

// Accesses `x[i]` or `x[rest + i]`, which four threads' worth of elements can be taken from at once.
std::vector<element_access> wide_accesses(const kernel& of, const placed_loop& place) {
  std::vector<element_access> found;
  const auto known = definitions_of(of.in, *place.function);
  const std::string index = place.loop.index + "#" + std::to_string(place.loop.id);
  for (const auto& access : accesses_in(of.in, *place.loop.body, known)) {
    const auto factor = coefficient(access.index, index);
    if (factor && constant_of(*factor) == 1 && is_float_array(access)) found.push_back(access);
  }
  return found;
}

// Throws `refusal` if iterations cannot be taken four at a time.
void require_independent(const kernel& of, const placed_loop& place) {
  const counted_loop& loop = place.loop;
  std::string why;
  if (has_effects_unknown(of.in, *loop.body)) throw refusal{"the loop does what is not understood"};
  if (!reductions_of(of.in, *place.function, *loop.body, why)) throw refusal{why};
  why = carried_by_arrays(of.in, loop, definitions_of(of.in, *place.function));
  if (!why.empty()) throw refusal{why};
  // What some threads or iterations do not write must not be written with its neighbours.
  const bool conditional = any_of(*loop.body, [&](const node& n) {
    return n.kind == node_kind::branch && any_of(n, [&](const node& inner) {
             return assigns(of.in, inner) && bare(inner.children[0]).kind == node_kind::subscript;
           });
  });
  if (conditional) throw refusal{"elements are written under a condition"};
}

// Four elements of an array, which a thread has in registers.
struct wide_piece {
  std::string name, address, first_address;
  bool read = false, written = false;
};
using wide_pieces = std::map<std::string, wide_piece>;  // by the text of the element

wide_pieces wide_pieces_of(const kernel& of, const counted_loop& loop,
                           const std::vector<element_access>& accesses, const std::string& start,
                           fresh_names& fresh) {
  replacements first;
  first.names[loop.id] = start;
  replacements begin;
  begin.names[loop.id] = start + "_first";
  std::set<long> written_arrays;
  for (const auto& access : accesses) {
    if (access.written) written_arrays.insert(access.base);
  }
  wide_pieces pieces;
  for (const auto& access : accesses) {
    auto& one = pieces[std::string(of.in.of(*access.at))];
    if (one.name.empty()) {
      one.name = fresh("four_of_" + root_of(*access.at)->name);
      one.address = "&" + kevo::rewriting::written(of.in, *access.at, first);
      one.first_address = "&" + kevo::rewriting::written(of.in, *access.at, begin);
    }
    one.written = one.written || access.written;
    one.read = one.read || !access.written || access.accumulated;
    if (!access.written && written_arrays.contains(access.base)) one.read = true;
  }
  return pieces;
}

// The body for four iterations from `start` on, element by element in registers.
void add_four_iterations(lines& to, const kernel& of, const counted_loop& loop, const wide_pieces& pieces,
                         const std::string& start, const std::string& lane) {
  for (const auto& [text, one] : pieces) {
    if (one.read)
      to.add("four_floats " + one.name + " = *reinterpret_cast<const four_floats*>(" + one.address + ");");
    else
      to.add("four_floats " + one.name + ";");
  }
  replacements by;
  by.names[loop.id] = "(" + start + " + " + lane + ")";
  walk(*loop.body, [&](const node& n) {
    if (n.kind != node_kind::subscript) return true;
    const auto found = pieces.find(std::string(of.in.of(n)));
    if (found != pieces.end()) by.nodes[&n] = found->second.name + ".at[" + lane + "]";
    return found == pieces.end();
  });
  to.add("#pragma unroll");
  to.open("for (int " + lane + " = 0; " + lane + " < 4; ++" + lane + ")");
  for (const node* statement : statements_of(*loop.body)) add_statement(to, of.in, *statement, by);
  to.close();
  for (const auto& [text, one] : pieces) {
    if (one.written) to.add("*reinterpret_cast<four_floats*>(" + one.address + ") = " + one.name + ";");
  }
}

}  // namespace

std::vector<site> wide_loads_sites(const kernel& of) {
  std::vector<site> found;
  for (const auto& one : device_kernels(of)) {
    for (std::size_t i = 0; i < of.loops.size(); ++i) {
      const auto& place = of.loops[i];
      if (place.function == one.function && !is_rest(place) && is_strided(of, place) &&
          !wide_accesses(of, place).empty())
        found.push_back({i});
    }
  }
  return found;
}

std::string wide_loads(const kernel& of, const site& where, rng&) {
  const placed_loop& place = of.loops.at(where.loop);
  const counted_loop& loop = place.loop;
  require_independent(of, place);
  fresh_names fresh(of.in);
  const std::string lane = fresh("wide_lane");
  const std::string start = fresh("wide_" + loop.index);
  const wide_pieces pieces = wide_pieces_of(of, loop, wide_accesses(of, place), start, fresh);
  std::string aligned;
  for (const auto& [text, one] : pieces)
    aligned +=
        (aligned.empty() ? "" : " | ") + ("reinterpret_cast<unsigned long long>(" + one.first_address + ")");
  lines to(depth_at(of.in, loop.begin));
  const std::string all_of = fresh("aligned");
  const std::string first_one = fresh("wide_first");
  // Whether this is so does not depend on the iteration: each is a multiple of four elements from the first
  // one.
  to.open("");
  to.add("const auto " + first_one + " = " + loop.lower + ";");
  const std::string whole = "((" + loop.upper + ") / 4 * 4)";
  to.add("const " + loop.type + " " + start + "_first = 4 * " + grouped(loop.lower) + ";");
  to.add("const bool " + all_of + " = ((" + aligned + ") & 15) == 0;");
  to.open("if (" + all_of + ")");
  to.open("for (" + loop.type + " " + start + " = " + start + "_first; " + start + " < " + whole + "; " +
          start + " += 4 * " + grouped(loop.step) + ")");
  add_four_iterations(to, of, loop, pieces, start, lane);
  to.close();
  to.close();
  // What is left over: up to three elements, or all of them.
  replacements rest;
  rest.nodes[loop.lower_node] = "(" + all_of + " ? " + whole + " : 0) + " + first_one;
  open_loop(to, of.in, loop, rest);
  for (const node* statement : statements_of(*loop.body)) add_statement(to, of.in, *statement);
  to.close();
  to.close();
  changes all;
  all.replace(loop, to);
  if (of.in.text.find("struct __align__(16) four_floats") == std::string::npos) {
    const std::size_t top = place_for_declarations(of.in);
    all.replace(top, top, "struct __align__(16) four_floats {\n  float at[4];\n};\n\n");
  }
  return all.applied_to(of.in.text);
}

}  // namespace kevo::rewriting
