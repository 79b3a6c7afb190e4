// Iterations become the lanes of the compiler's vectors: the lanes of widen.hpp.
#include "operators/rewrite/action.hpp"
#include "operators/rewrite/dependence.hpp"
#include "operators/rewrite/widen.hpp"

namespace kevo::rewriting {

std::vector<site> vectorize_sites(const kernel& of) {
  std::vector<site> found;
  for (std::size_t i = 0; i < of.loops.size(); ++i) {
    const placed_loop& which = of.loops[i];
    if (is_short(of, which) || is_rest(which) || which.loop.step != "1" || which.loop.whole_steps) continue;
    if (!element_type(of.in, which)) continue;
    const auto known = definitions_of(of.in, *which.function);
    const std::string index = which.loop.index + "#" + std::to_string(which.loop.id);
    double weight = 1;  // the more of what it reads lies side by side, the better
    for (const auto& access : accesses_in(of.in, *which.loop.body, known)) {
      const auto factor = coefficient(access.index, index);
      if (factor && constant_of(*factor) == 1) {
        weight *= 2;
      } else if (!factor || !factor->empty()) {
        weight *= 0.25;
      }
    }
    found.push_back({i, nullptr, weight});
  }
  return found;
}

std::string vectorize(const kernel& of, const site& where, rng& random) {
  const placed_loop& which = of.loops.at(where.loop);
  const auto element = element_type(of.in, which);
  if (!element) throw refusal{"values of different types"};
  const bool wide = *element == "double" || *element == "long" || *element == "unsigned long";
  const std::string bytes = wide ? "8" : "4";
  fresh_names fresh(of.in);
  const std::string& index = which.loop.index;
  widened_names names;
  names.count = fresh("lanes_" + index);
  names.copy = fresh("lane");
  names.vector = fresh("vector_" + index);
  names.place = fresh("at_" + index);
  names.words = fresh("words_" + index);
  const std::string loose = fresh("loose_" + names.vector);
  changes all;
  all.replace(which.loop, widened(of.in, which, widening::lanes, names, *element, fresh));

  const int lanes = (wide ? 4 : 8) << random.below(2);
  std::string top = tunable_line(names.count, lanes, wide ? "2, 4, 8" : "4, 8, 16");
  const std::string size = "vector_size(" + names.count + " * " + bytes + ")";
  top += "typedef " + *element + " " + names.vector + " __attribute__((" + size + "));\n";
  top += "typedef " + std::string(wide ? "long" : "int") + " " + names.words + " __attribute__((" + size +
         "));\n";
  top += "typedef " + *element + " " + loose + " __attribute__((" + size + ", aligned(" + bytes +
         "), may_alias));\n";
  top += "// Elements side by side, from this one on, as a vector.\n";
  top += "inline " + loose + "& " + names.place + "(" + *element + "& first) {\n  return reinterpret_cast<" +
         loose + "&>(first);\n}\n";
  top += "inline const " + loose + "& " + names.place + "(const " + *element +
         "& first) {\n  return reinterpret_cast<const " + loose + "&>(first);\n}\n\n";
  const std::size_t place = place_for_declarations(of.in);
  all.replace(place, place, top);
  return all.applied_to(of.in.text);
}

}  // namespace kevo::rewriting
